/**
 * Every port in memory: storage, cache and platforms. For tests, demos, embedders and services that need no
 * persistence. Conformance tests compare every other store with these.
 */
export * as CacheMemory from "./cache/cache_memory.ts";
export * as PlatformMemory from "./platforms/platform_memory.ts";
export * as StorageMemory from "./storage/storage_memory.ts";
