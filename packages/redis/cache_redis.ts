import type { Cache, Counters, Signals } from "@accountlink/core";
import { Effect, Layer } from "effect";
import * as RedisCache from "./cache.ts";
import {
  layer as connections,
  type InvalidRedisUrl,
  RedisConnections,
  type RedisDatabaseRefused,
  type RedisOptions,
  type RedisUnusable,
} from "./connection/connections.ts";
import { pathOf } from "./connection/redis_url.ts";
import { refusalOf } from "./inspect.ts";
import * as RedisCounters from "./limits/counters.ts";
import { RedisHealth } from "./redis_health.ts";
import * as RedisSignals from "./signals/signals.ts";

export {
  InvalidRedisUrl,
  RedisDatabaseRefused,
  type RedisOptions,
  RedisUnusable,
} from "./connection/connections.ts";
export { inspect, type RedisState } from "./inspect.ts";
export { RedisHealth } from "./redis_health.ts";

/**
 * Counters, cache and signals on one Redis: a single server, a server behind sentinels, or a cluster.
 *
 * While Redis is unreachable, every operation fails with `StoreUnavailable`, at once or after `commandTimeout`. Once
 * Redis is reachable again, operations work again within 2 seconds. No command is sent twice, and no command waits for
 * a connection.
 */
export const layer = (
  options: RedisOptions,
): Layer.Layer<
  Counters | Cache | Signals | RedisHealth,
  InvalidRedisUrl | RedisDatabaseRefused | RedisUnusable
> =>
  Layer.mergeAll(
    RedisCounters.layer,
    RedisCache.layer,
    RedisSignals.layer,
    healthLayer,
    Layer.effectDiscard(warnOfRefusal),
  ).pipe(Layer.provide(connections(options)));

/** Warns of a Redis that is in reach and refuses what limits need, such as one whose user may not run scripts. */
const warnOfRefusal = Effect.gen(function* () {
  const { commands, prefix, address } = yield* RedisConnections;
  const refusal = yield* Effect.orElseSucceed(refusalOf(commands, `${prefix}inspection`), () => null);
  if (refusal === null) return;
  yield* Effect.logWarning(
    `Redis at "${pathOf(address)}" refuses writes: ${refusal}. Until it takes them, each server counts limits for itself`,
  );
});

const healthLayer = Layer.effect(
  RedisHealth,
  Effect.map(RedisConnections, ({ health }) => ({ isReachable: Effect.sync(() => health.isReachable) })),
);
