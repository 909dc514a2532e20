/**
 * The storage ports on any key-value store. An adapter implements `StorageKv.KeyValueStore`, three functions in
 * promises; audit entries, indexes and the rules of links, keys and sessions are those of this package and of core.
 *
 * @example
 * ```ts
 * import type { StorageKv } from "@accountlink/storage-kv";
 *
 * const nothing: Pick<StorageKv.KeyValueStore, "get"> = { get: async (keys) => keys.map(() => null) };
 * await nothing.get(["head"]); // [null]
 * ```
 */
export * as StorageKv from "./storage_kv.ts";
