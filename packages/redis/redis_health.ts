/** This file loads nothing else of this package, so that a server without Redis can use it. */
import { Context, type Effect } from "effect";

/**
 * Whether Redis answers, for services that report a degraded state.
 *
 * @example
 * ```ts
 * import { CacheRedis } from "@accountlink/redis";
 * import { Effect } from "effect";
 *
 * const degraded = Effect.gen(function* () {
 *   const { isReachable } = yield* CacheRedis.RedisHealth;
 *   return (yield* isReachable) ? [] : ["redis"];
 * });
 * // In a test; `CacheRedis.layer` has the one of its connections.
 * const down = CacheRedis.RedisHealth.of({ isReachable: Effect.succeed(false) });
 * await Effect.runPromise(Effect.provideService(degraded, CacheRedis.RedisHealth, down)); // ["redis"]
 * ```
 */
export class RedisHealth extends Context.Service<
  RedisHealth,
  { readonly isReachable: Effect.Effect<boolean> }
>()("@accountlink/redis/RedisHealth") {}
