/**
 * Conformance suites for adapters: for each port, for outages, and one that compares a store with a model on random
 * commands. Each suite takes the layer of the adapter.
 *
 * @example
 * ```ts
 * import { memoryKv } from "@accountlink/kv";
 * import { CacheMemory } from "@accountlink/memory";
 * import { StorageMemory } from "@accountlink/memory";
 * import { Effect } from "effect";
 * import * as test from "vitest";
 *
 * const storage = { name: "Memory", layer: StorageMemory.layer, test };
 * linkStoreSuite(storage);
 * keyStoreSuite(storage);
 * auditLogSuite(storage);
 * sessionStoreSuite(storage);
 * flowStoreSuite(storage);
 * dayCountsSuite(storage);
 * rootKeyStoreSuite(storage);
 * sightingStoreSuite(storage);
 * altReviewStoreSuite(storage);
 * signInStoreSuite(storage);
 * idempotencyStoreSuite(storage);
 * userStoreSuite(storage);
 * usageStoreSuite(storage);
 * eventStoreSuite(storage);
 * webhookStoreSuite(storage);
 * rolePlanStoreSuite(storage);
 * memberStoreSuite(storage);
 *
 * const cache = { name: "Memory", layer: CacheMemory.layer, test };
 * countersSuite(cache);
 * cacheSuite(cache);
 * signalsSuite(cache);
 *
 * kvSuite({ name: "Memory", engine: Effect.sync(memoryKv), test });
 * ```
 */

export * from "./alts/alt_review_store_suite.ts";
export * from "./alts/sighting_store_suite.ts";
export * from "./audit_log_suite.ts";
export * from "./cache_suite.ts";
export * from "./events/event_store_suite.ts";
export * from "./flow_store_suite.ts";
export * from "./game_platform_suite.ts";
export * from "./idempotency/idempotency_store_suite.ts";
export * from "./keys/key_store_suite.ts";
export { type KvSuiteOptions, kvSuite } from "./kv/kv_suite.ts";
export * from "./limits/counters_suite.ts";
export * from "./limits/day_counts_suite.ts";
export * from "./links/link_store_suite.ts";
export * from "./member_store_suite.ts";
export * from "./outages/connection.ts";
export * from "./outages/outage_suites.ts";
export * from "./property/storage_move_suite.ts";
export * from "./property/storage_property_suite.ts";
export * from "./roles/role_plan_store_suite.ts";
export * from "./root_key_store_suite.ts";
export * from "./run_suites.ts";
export * from "./sessions/session_store_suite.ts";
export { signInStoreSuite } from "./sign_in_store_suite.ts";
export * from "./signals_suite.ts";
export * from "./storage_suites.ts";
export type { SuiteOptions, TestApi } from "./suite.ts";
export * from "./usage_store_suite.ts";
export * from "./users/user_store_suite.ts";
export * from "./webhooks/webhook_store_suite.ts";
