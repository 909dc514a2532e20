import { Counters } from "@accountlink/core";
import { CountLedger, type LedgerWindow, ResilientCounters } from "@accountlink/core/limits";
import { CacheMemory, StorageMemory } from "@accountlink/memory";
import { startRedis, whyNoRedis } from "@accountlink/test-servers";
import { assert, describe, it } from "@effect/vitest";
import { Context, Effect, Layer, Logger } from "effect";
import { openNode, until } from "../test_redis.ts";

const missing = await whyNoRedis();
const hour = 3_600_000;
const day = 24 * hour;
const limit = 50;

/** Opens two nodes that share a Redis and a ledger, and waits until each counts both nodes. */
const openNodes = Effect.fnUntraced(function* (url: string) {
  const ledger = Context.get(yield* Layer.build(Layer.fresh(StorageMemory.layer)), CountLedger);
  const renewals: Array<string> = [];
  const counting = CountLedger.of({
    ...ledger,
    renewNode: (nodeId, endsAt, now) => {
      renewals.push(nodeId);
      return ledger.renewNode(nodeId, endsAt, now);
    },
  });
  const open = Effect.gen(function* () {
    const redis = yield* openNode(url);
    const ports = yield* Layer.build(
      Layer.fresh(ResilientCounters.layer({ local: CacheMemory.layer })).pipe(
        Layer.provide(Layer.succeed(Counters, Context.get(redis, Counters))),
        Layer.provide(Layer.succeed(CountLedger, counting)),
        Layer.provide(Logger.layer([])),
      ),
    );
    return Context.get(ports, Counters);
  });
  const nodes = [yield* open, yield* open] as const;
  yield* until(Effect.sync(() => renewals.slice(2).includes(renewals[0] as string)));
  return { nodes, ledger };
});

const newDay = (): LedgerWindow => ({ key: `day:${crypto.randomUUID()}`, endsAt: Date.now() + hour });

/** Returns a function that sends requests with a daily limit, and counts how many were admitted. */
const admitterOf =
  ({ key, endsAt }: LedgerWindow) =>
  (counters: Counters["Service"], requests: number) =>
    Effect.suspend(() => {
      const now = Date.now();
      return counters.admit([{ key, limit, durationMs: endsAt - now, since: endsAt - day }], now);
    }).pipe(
      Effect.replicateEffect(requests, { concurrency: "unbounded" }),
      Effect.map((admissions) => admissions.filter(({ admitted }) => admitted).length),
    );

describe.skipIf(missing !== null)(`resilient counters ${missing ?? "on Redis"}`, () => {
  it.live("counters continue from the saved counts if Redis was restored from an older state", () =>
    Effect.gen(function* () {
      const server = yield* startRedis();
      const {
        nodes: [one, other],
        ledger,
      } = yield* openNodes(server.url);
      const today = newDay();
      const admit = admitterOf(today);
      assert.strictEqual(yield* admit(one, 10), 10);
      yield* ledger.saveCounts([{ ...today, counted: 30 }], 0);
      // Without the key of the generation, Redis looks as if it was restored from an older state.
      yield* server.ask("DEL", "accountlink:generation");
      assert.strictEqual(yield* admit(other, 80), 20);
    }),
  );

  it.live("counters do not load saved counts of windows that began after Redis started", () =>
    Effect.gen(function* () {
      const server = yield* startRedis();
      const {
        nodes: [one],
        ledger,
      } = yield* openNodes(server.url);
      assert.strictEqual(yield* admitterOf(newDay())(one, 1), 1);
      const tomorrow = { key: `day:${crypto.randomUUID()}`, endsAt: Date.now() + day + hour };
      // If the ledger were read, this count would refuse requests.
      yield* ledger.saveCounts([{ ...tomorrow, counted: 40 }], 0);
      assert.strictEqual(yield* admitterOf(tomorrow)(one, limit), limit);
    }),
  );
});
