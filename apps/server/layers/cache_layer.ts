import type { Cache as CachePort, Counters, Signals, StoreUnavailable } from "@accountlink/core";
import { type DayCounts, FallbackCounters } from "@accountlink/core/limits";
import { CacheMemory } from "@accountlink/memory";
import type { CacheRedis } from "@accountlink/redis";
import { Effect, Layer } from "effect";
import type { Cache } from "../config/resolved_config.ts";

/** Provides the cache. Only processes that use Redis load the Redis modules. */
export const cacheLayer = (cache: Cache) =>
  cache.kind === "memory"
    ? CacheMemory.layer
    : Layer.unwrap(
        Effect.map(
          Effect.promise(() => import("@accountlink/redis")),
          ({ CacheRedis: { layer } }) => layer(cache),
        ),
      );

/** Provides the cache of a server: Redis with counters for its outages, or a memory that saves the counts of the day. */
export const serverCacheLayer = (
  cache: Cache,
): Layer.Layer<CachePort | Counters | Signals, CacheRedis.InvalidRedisUrl | StoreUnavailable, DayCounts> =>
  cache.kind === "memory"
    ? CacheMemory.layerSaved
    : Layer.provideMerge(FallbackCounters.layer(CacheMemory.layer), cacheLayer(cache));
