/**
 * Counters, cache and signals that all nodes share, on Redis 6 or later, or Valkey.
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
export * as RedisUrl from "./redis_url.ts";
