/**
 * Every port in memory: storage, cache and platforms. For tests, demos, embedders and services that need no
 * persistence. Property tests compare the SQL stores with these.
 */
export * as CacheMemory from "./cache/cache_memory.ts";
export * as PlatformMemory from "./platforms/platform_memory.ts";
export * as StorageMemory from "./storage_memory.ts";
