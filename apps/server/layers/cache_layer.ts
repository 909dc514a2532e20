import { CacheMemory } from "@accountlink/memory";
import { Effect, Layer } from "effect";
import type { Cache } from "../config/resolved_config.ts";

/** The modules of Redis are loaded only by processes that use it. */
export const cacheLayer = (cache: Cache) =>
  cache.kind === "memory"
    ? CacheMemory.layer
    : Layer.unwrap(
        Effect.map(
          Effect.promise(() => import("@accountlink/redis")),
          ({ CacheRedis: { layer } }) => layer(cache),
        ),
      );
