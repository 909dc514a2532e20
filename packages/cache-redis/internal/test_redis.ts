/** Redis as the tests want it. */
import { Connection } from "@accountlink/conformance";
import { Counters } from "@accountlink/core";
import { startProxy, startRedis } from "@accountlink/test-servers";
import { Context, Effect, Layer, Logger, Redacted, Schedule, type Scope } from "effect";
import { Redis } from "ioredis";
import * as RedisCache from "../cache.ts";
import * as CacheRedis from "../cache_redis.ts";
import { layer as connections, type RedisOptions } from "../connections.ts";
import * as RedisSignals from "../signals.ts";
import { makeCounters } from "./make_counters.ts";

/** Connections that tests lose on purpose are nothing to print. */
const silence = Logger.layer([]);

/** Starts the names of one test, which others on the same Redis cannot meet. */
export const uniquePrefix = (): string => `test-${crypto.randomUUID()}:`;

/** The ports of one node of the service, on connections of its own. */
export const openNode = (url: string, options: Partial<RedisOptions> = {}) =>
  Layer.build(CacheRedis.layer({ url: Redacted.make(url), ...options }).pipe(Layer.provide(silence)));

/** A client of the driver, to see what is in Redis. */
export const openClient = (url: string) =>
  Effect.acquireRelease(
    Effect.sync(() => new Redis(url)),
    (client) => Effect.sync(() => client.disconnect()),
  );

/** How long the keys that start with the prefix still last, in milliseconds; -1 is for ever. */
export const livesOf = Effect.fnUntraced(function* (url: string, prefix: string) {
  const client = yield* openClient(url);
  const lives: Array<number> = [];
  let cursor = "0";
  do {
    const [next, keys] = yield* Effect.promise(() =>
      client.scan(cursor, "MATCH", `${prefix}*`, "COUNT", 1_000),
    );
    lives.push(...(yield* Effect.promise(() => Promise.all(keys.map((key) => client.pttl(key))))));
    cursor = next;
  } while (cursor !== "0");
  return lives;
});

/** Asks again until the condition holds. */
export const until = <E, R>(condition: Effect.Effect<boolean, E, R>) =>
  Effect.repeat(condition, { until: (holds) => holds, schedule: Schedule.spaced("10 millis") });

/** The ports, with counters that believe the times which they are passed: the suites pass times of their own. */
export const layerAt = (url: string, prefix = uniquePrefix()) =>
  Layer.mergeAll(Layer.effect(Counters, makeCounters("caller")), RedisCache.layer, RedisSignals.layer).pipe(
    Layer.provide(connections({ url: Redacted.make(url), prefix })),
    Layer.provide(silence),
  );

/** A Redis, as far as its client can reach it. */
export interface BreakableRedis {
  readonly url: string;
  readonly break: Effect.Effect<void>;
  readonly restore: Effect.Effect<void>;
}

const behindProxy = Effect.gen(function* () {
  const server = yield* startRedis();
  const proxy = yield* startProxy(server.port);
  return { proxy, url: `redis://127.0.0.1:${proxy.port}` };
});

/** How a Redis may be lost. */
export const breakages: Readonly<Record<string, Effect.Effect<BreakableRedis, never, Scope.Scope>>> = {
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

/** The ports as they are, on a Redis that can be lost. */
export const breakableLayer = (start: Effect.Effect<BreakableRedis, never, Scope.Scope>) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const redis = yield* start;
      const url = Redacted.make(redis.url);
      const ports = yield* Layer.build(CacheRedis.layer({ url, commandTimeout: "200 millis" }));
      return Context.add(ports, Connection, { break: redis.break, restore: redis.restore });
    }),
  ).pipe(Layer.provide(silence));
