/** For tests: clients, nodes and outages of Redis. */

import { Counters } from "@accountlink/core";
import { startProxy, startRedis } from "@accountlink/test-servers";
import { Connection } from "@accountlink/testing/conformance";
import { Context, Effect, Layer, Logger, Queue, Redacted, Schedule, type Scope } from "effect";
import { Redis } from "ioredis";
import * as RedisCache from "./cache.ts";
import * as CacheRedis from "./cache_redis.ts";
import { layer as connections, type RedisOptions } from "./connection/connections.ts";
import { makeCounters } from "./limits/counters.ts";
import * as RedisSignals from "./signals/signals.ts";

export const noLogs = Logger.layer([]);

/** The prefix of one test on a shared Redis. */
export const uniquePrefix = (): string => `test-${crypto.randomUUID()}:`;

/** A timeout that a busy machine does not reach. */
const generous = { commandTimeout: "20 seconds" } as const;

/** Builds the counters, the cache and the signals of one simulated node, which has its own connections to Redis. */
export const openNode = (url: string, options: Partial<RedisOptions> = {}) =>
  Layer.build(
    CacheRedis.layer({ url: Redacted.make(url), ...generous, ...options }).pipe(Layer.provide(noLogs)),
  );

/** A plain client that reads and changes keys directly. */
export const openClient = (url: string) =>
  Effect.acquireRelease(
    Effect.sync(() => new Redis(url)),
    (client) => Effect.sync(() => client.disconnect()),
  );

/** The remaining lifetimes of the keys with the prefix, in milliseconds; -1 for keys that never expire. */
export const ttlsOf = Effect.fnUntraced(function* (url: string, prefix: string) {
  const client = yield* openClient(url);
  const ttls: Array<number> = [];
  let cursor = "0";
  do {
    const [next, keys] = yield* Effect.promise(() =>
      client.scan(cursor, "MATCH", `${prefix}*`, "COUNT", 1_000),
    );
    ttls.push(...(yield* Effect.promise(() => Promise.all(keys.map((key) => client.pttl(key))))));
    cursor = next;
  } while (cursor !== "0");
  return ttls;
});

export const until = <E, R>(condition: Effect.Effect<boolean, E, R>) =>
  Effect.repeat(condition, { until: (holds) => holds, schedule: Schedule.spaced("10 millis") });

/** Publishes until a queue gets a message. */
export const untilHeard = Effect.fnUntraced(function* <E>(
  queue: Queue.Dequeue<string>,
  publish: Effect.Effect<void, E>,
) {
  const heard = yield* Effect.forkChild(Queue.take(queue));
  const isHeard = Effect.sync(() => heard.pollUnsafe() !== undefined);
  yield* until(Effect.andThen(Effect.ignore(publish), isHeard));
});

/** The ports for the conformance suites. The clock of the counters is the time that a suite passes to each call. */
export const layerAt = (url: string, prefix = uniquePrefix()) =>
  Layer.mergeAll(Layer.effect(Counters, makeCounters("caller")), RedisCache.layer, RedisSignals.layer).pipe(
    Layer.provide(connections({ url: Redacted.make(url), prefix, ...generous })),
    Layer.provide(noLogs),
  );

export interface RedisWithOutage {
  readonly url: string;
  readonly break: Effect.Effect<void>;
  readonly restore: Effect.Effect<void>;
}

const behindProxy = Effect.gen(function* () {
  const server = yield* startRedis();
  const proxy = yield* startProxy(server.port);
  return { proxy, url: `redis://127.0.0.1:${proxy.port}` };
});

export const outages: Readonly<Record<string, Effect.Effect<RedisWithOutage, never, Scope.Scope>>> = {
  frozen: Effect.map(startRedis(), (server) => ({
    url: server.url,
    break: server.freeze,
    restore: server.thaw,
  })),
  killed: Effect.map(startRedis(), (server) => ({
    url: server.url,
    break: server.kill,
    restore: server.restart,
  })),
  "cut off": Effect.map(behindProxy, ({ proxy, url }) => ({ url, break: proxy.cut, restore: proxy.restore })),
  "behind a silent network": Effect.map(behindProxy, ({ proxy, url }) => ({
    url,
    break: proxy.silence,
    restore: proxy.restore,
  })),
};

/** Implements the ports of core on a Redis server whose connection a test can break and restore. */
export const layerWithOutage = (start: Effect.Effect<RedisWithOutage, never, Scope.Scope>) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const redis = yield* start;
      const url = Redacted.make(redis.url);
      const ports = yield* Layer.build(CacheRedis.layer({ url, commandTimeout: "500 millis" }));
      return Context.add(ports, Connection, { break: redis.break, restore: redis.restore });
    }),
  ).pipe(Layer.provide(noLogs));
