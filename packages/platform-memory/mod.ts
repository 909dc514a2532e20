/** Both platforms in memory, for tests and for embedders with their own source of users. */
export * as PlatformMemory from "./platform_memory.ts";
