/**
 * What an adapter of a port must do, as suites that take its layer: one for each port, one for what happens when its
 * connection breaks, and one that compares a store with a model on random commands.
 *
 * @example
 * ```ts
 * import { StorageMemory } from "@accountlink/storage-memory";
 * import * as test from "vitest";
 *
 * linkStoreSuite({ name: "Memory", layer: StorageMemory.layer, test });
 * ```
 */
export * from "./audit_log_suite.ts";
export * from "./cache_suite.ts";
export * from "./command.ts";
export * from "./connection.ts";
export * from "./count_ledger_suite.ts";
export * from "./counters_suite.ts";
export * from "./failing_suites.ts";
export * from "./flow_store_suite.ts";
export * from "./key_store_suite.ts";
export * from "./link_store_suite.ts";
export * from "./root_key_store_suite.ts";
export * from "./run_command.ts";
export * from "./session_store_suite.ts";
export * from "./sighting_store_suite.ts";
export * from "./signals_suite.ts";
export * from "./storage_property_suite.ts";
export * from "./suite.ts";
export * from "./user_store_suite.ts";
export * from "./verification_command.ts";
export * from "./world.ts";
