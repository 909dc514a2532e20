/**
 * Counters, cache and signals in the memory of one process. A service of several processes needs
 * shared ones, such as `CacheRedis`.
 */
export * as CacheMemory from "./cache_memory.ts";
