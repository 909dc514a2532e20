/**
 * Counters, cache and signals that all nodes share, on Valkey or Redis 6 and later.
 *
 * @example
 * ```ts
 * import { Redacted } from "effect";
 *
 * const shared = CacheRedis.layer({
 *   url: Redacted.make("rediss://:secret@cache.internal"),
 *   prefix: "accountlink:",
 *   commandTimeout: "500 millis",
 * });
 * ```
 */
export * as CacheRedis from "./cache_redis.ts";
export * as RedisUrl from "./connection/redis_url.ts";
