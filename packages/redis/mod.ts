/** Storage, and counters, cache and signals that all nodes share, on Valkey or Redis 6 and later. */
export * as CacheRedis from "./cache_redis.ts";
export * as StorageRedis from "./storage/storage_redis.ts";
