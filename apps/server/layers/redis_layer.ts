/** The cache on Redis. Its modules are loaded only by processes that use it. */
import type { CacheRedis } from "@accountlink/cache-redis";
import { Effect, Layer } from "effect";

export const redisLayer = (options: CacheRedis.RedisOptions) =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("@accountlink/cache-redis")),
      ({ CacheRedis: { layer } }) => layer(options),
    ),
  );
