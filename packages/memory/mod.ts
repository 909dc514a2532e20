/**
 * Every port in memory: storage, cache and platforms, for tests, demos, embedders and services without persistence.
 * Conformance tests compare every other store with this one.
 */
export * as CacheMemory from "./cache/cache_memory.ts";
export * as PlatformMemory from "./platforms/platform_memory.ts";
export * as StorageMemory from "./storage/storage_memory.ts";
