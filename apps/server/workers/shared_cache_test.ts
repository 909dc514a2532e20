import {
  cacheOutageSuite,
  cacheSuite,
  countersOutageSuite,
  countersSuite,
  signalsOutageSuite,
  signalsSuite,
} from "@accountlink/conformance";
import { Cache, Counters, Signals } from "@accountlink/core";
import { describe, expect, it } from "@effect/vitest";
import { Context, Effect, Layer, Queue } from "effect";
import * as test from "vitest";
import type { CacheAnswer, CacheCall } from "./cache_calls.ts";
import { makeHeldCache } from "./held_cache.ts";
import { type SharedCacheLink, sharedCacheLayer } from "./shared_cache.ts";

/** As it comes out of a channel. */
const sent = <A>(value: A): A => JSON.parse(JSON.stringify(value)) as A;

type Held = (calls: ReadonlyArray<CacheCall>) => ReadonlyArray<CacheAnswer>;

const linkTo = (held: Held, others: Partial<SharedCacheLink> = {}): SharedCacheLink => ({
  call: (calls) => Promise.resolve(sent(held(sent(calls)))),
  publish: () => {},
  onMessage: () => {},
  ...others,
});

const layer = Layer.unwrap(Effect.map(makeHeldCache, (held) => sharedCacheLayer(linkTo(held))));
const name = "Shared by workers";
const skip = "the primary process is lost with its workers";

countersSuite({ name, layer, test });
cacheSuite({ name, layer, test });
signalsSuite({ name, layer, test });
countersOutageSuite({ name, test, skip });
cacheOutageSuite({ name, test, skip });
signalsOutageSuite({ name, test, skip });

const minute = 60_000;

describe("what workers share", () => {
  it.effect("has one count of each window, however the calls of several workers mix", () =>
    Effect.gen(function* () {
      const held = yield* makeHeldCache;
      const workers = yield* Effect.replicateEffect(
        Effect.map(Layer.build(sharedCacheLayer(linkTo(held))), (context) => Context.get(context, Counters)),
        3,
      );
      const rules = [
        { key: "address", limit: 1_000, durationMs: minute },
        { key: "key", limit: 100, durationMs: minute },
      ];
      const admissions = yield* Effect.forEach(
        Array.from({ length: 300 }, (_, i) => i),
        (i) => (workers[i % 3] as Counters["Service"]).admit(rules, i),
        { concurrency: "unbounded" },
      );
      const admitted = admissions.filter((admission) => admission.admitted);
      expect(admitted.length).toBe(100);
      expect(new Set(admitted.map(({ states }) => states[1]?.count)).size).toBe(100);
    }).pipe(Effect.scoped),
  );

  it.effect("is asked once in a turn of the event loop, for requests of the same windows in one call", () =>
    Effect.gen(function* () {
      const held = yield* makeHeldCache;
      const asked: Array<ReadonlyArray<CacheCall>> = [];
      const call = (calls: ReadonlyArray<CacheCall>) => {
        asked.push(calls);
        return Promise.resolve(sent(held(sent(calls))));
      };
      const context = yield* Layer.build(sharedCacheLayer(linkTo(held, { call })));
      const [counters, cache] = [Context.get(context, Counters), Context.get(context, Cache)];
      const day = 86_400_000;
      // Long after the counters began.
      const since = 10 * minute;
      const rulesAt = (now: number, key: string) => [
        {
          key: `day ${key}`,
          limit: 9,
          durationMs: day - now,
          checkpoint: { since, floor: null, owed: 0 },
        },
        { key, limit: 2, durationMs: 1_000 },
      ];
      const [one, two, other, three] = yield* Effect.all(
        [
          counters.admit(rulesAt(1, "a"), 1),
          counters.admit(rulesAt(2, "a"), 2),
          counters.admit(rulesAt(2, "b"), 2),
          counters.admit(rulesAt(3, "a"), 3),
          cache.get("none", 3),
        ],
        { concurrency: "unbounded" },
      );
      expect([one, two, other, three].map(({ admitted }) => admitted)).toEqual([true, true, true, false]);
      expect(asked).toEqual([
        [
          ["get", "none", 3],
          ["admit", rulesAt(1, "a"), 1, 3],
          ["admit", rulesAt(2, "b"), 2, 1],
        ],
      ]);
    }).pipe(Effect.scoped),
  );

  it.effect("is unavailable when the primary process does not answer", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(
        sharedCacheLayer(linkTo(() => [], { call: () => Promise.resolve(null) })),
      );
      const failure = yield* Effect.flip(Context.get(context, Counters).read([], 0));
      expect(failure).toMatchObject({ _tag: "StoreUnavailable", operation: "Counters.read" });
    }).pipe(Effect.scoped),
  );

  it.effect("tells the subscribers of all workers, each once", () =>
    Effect.gen(function* () {
      const deliveries: Array<(topic: string, message: string) => void> = [];
      const build = (own: number) =>
        Effect.map(
          Layer.build(
            sharedCacheLayer(
              linkTo(() => [], {
                publish: (topic, message) => {
                  for (const [i, deliver] of deliveries.entries()) if (i !== own) deliver(topic, message);
                },
                onMessage: (deliver) => void deliveries.push(deliver),
              }),
            ),
          ),
          (context) => Context.get(context, Signals),
        );
      const [one, other] = [yield* build(0), yield* build(1)];
      const queues = yield* Effect.all([one.subscribe("keys"), other.subscribe("keys")]);
      yield* one.publish("keys", "first");
      yield* other.publish("keys", "second");
      for (const queue of queues) expect(yield* Queue.takeAll(queue)).toEqual(["first", "second"]);
    }).pipe(Effect.scoped),
  );
});
