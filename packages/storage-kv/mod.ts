/**
 * The storage ports on any key-value store. An adapter implements `StorageKv.KeyValueStore`, three functions in
 * promises; audit entries, indexes and the rules of links, keys and sessions are those of this package and of core.
 */
export * as StorageKv from "./storage_kv.ts";
