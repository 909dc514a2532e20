/**
 * Conformance suites for adapters: for each port, for outages, and one that compares a store with a model on random
 * commands. Each suite takes the layer of the adapter.
 *
 * @example
 * ```ts
 * import { CacheMemory } from "@accountlink/memory";
 * import * as test from "vitest";
 *
 * const cache = { name: "Memory", layer: CacheMemory.layer, test };
 * countersSuite(cache);
 * cacheSuite(cache);
 * signalsSuite(cache);
 * ```
 */

export * from "./cache_suite.ts";
export * from "./game_platform_suite.ts";
export { type KvSuiteOptions, kvSuite } from "./kv/kv_suite.ts";
export * from "./limits/counters_suite.ts";
export * from "./links/link_store_suite.ts";
export * from "./outages/connection.ts";
export * from "./outages/outage_suites.ts";
export * from "./property/storage_move_suite.ts";
export * from "./property/storage_property_suite.ts";
export * from "./run_suites.ts";
export * from "./signals_suite.ts";
export * from "./storage_suites.ts";
export type { SuiteOptions, TestApi } from "./suite.ts";
