/** Counters, cache and signals that all nodes share, on Valkey or Redis 6 and later. */
export * as CacheRedis from "./cache_redis.ts";
