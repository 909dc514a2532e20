import { CacheMemory } from "@accountlink/memory";
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
