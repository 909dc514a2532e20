/**
 * For tests of programs that use accountlink: random values of the domain types (`Arbitrary`), records and fixtures
 * in one line, and the whole service in memory with a test clock.
 */
export * as Arbitrary from "./arbitraries/mod.ts";
export * from "./builders/complete_fixture.ts";
export * from "./builders/platform.ts";
export * from "./builders/records.ts";
export * from "./builders/unique.ts";
export * from "./check.ts";
export * from "./hostile_texts.ts";
export * as MemoryWorld from "./memory/layer.ts";
export * from "./memory/memory_world.ts";
