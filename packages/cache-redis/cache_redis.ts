/** The ports of what all nodes share and may be forgotten. */
import type { Cache, Counters, Signals } from "@accountlink/core";
import { Effect, Layer } from "effect";
import * as RedisCache from "./cache.ts";
import {
  layer as connections,
  type InvalidRedisUrl,
  RedisConnections,
  type RedisOptions,
} from "./connections.ts";
import * as RedisCounters from "./counters.ts";
import { RedisHealth } from "./redis_health.ts";
import * as RedisSignals from "./signals.ts";

export { InvalidRedisUrl, type RedisOptions } from "./connections.ts";
export { inspect, type RedisState, RedisUnusable } from "./inspect.ts";
export { RedisHealth } from "./redis_health.ts";

/**
 * Counters, caches and signals on one Redis, which may be a single one, one behind sentinels, or a cluster.
 *
 * While it cannot be reached every operation fails with `StoreUnavailable`, at once or after `commandTimeout`; when it is
 * back they work again within 2 seconds. Nothing is sent twice and nothing waits for a connection.
 */
export const layer = (
  options: RedisOptions,
): Layer.Layer<Counters | Cache | Signals | RedisHealth, InvalidRedisUrl> =>
  Layer.mergeAll(RedisCounters.layer, RedisCache.layer, RedisSignals.layer, healthLayer).pipe(
    Layer.provide(connections(options)),
  );

const healthLayer = Layer.effect(
  RedisHealth,
  Effect.map(RedisConnections, ({ health }) => ({ isReachable: Effect.sync(() => health.isReachable) })),
);
