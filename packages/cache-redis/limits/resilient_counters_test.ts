import { CacheMemory } from "@accountlink/cache-memory";
import { Counters } from "@accountlink/core";
import { CountLedger, type LedgerWindow, ResilientCounters } from "@accountlink/core/limits";
import { StorageMemory } from "@accountlink/storage-memory";
import { startRedis, whyNoRedis } from "@accountlink/test-servers";
import { assert, describe, it } from "@effect/vitest";
import { Context, Effect, Layer, Logger } from "effect";
import { openNode, until } from "../test_redis.ts";

const missing = await whyNoRedis();
const hour = 3_600_000;
const day = 24 * hour;
const limit = 50;

/** Two nodes that share the Redis and a ledger, and know of each other. */
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
  const untilSaved = (window: LedgerWindow, counted: number) =>
    until(Effect.map(ledger.loadCounts([window]), ([found]) => found === counted));
  return { nodes, ledger, untilSaved };
});

const newDay = (): LedgerWindow => ({ key: `day:${crypto.randomUUID()}`, endsAt: Date.now() + hour });

/** Counts requests of the day, and returns how many were admitted. */
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
  it.live("admit the rest of the day in a burst on an emptied Redis", () =>
    Effect.gen(function* () {
      const server = yield* startRedis();
      const {
        nodes: [one, other],
        untilSaved,
      } = yield* openNodes(server.url);
      const today = newDay();
      const admit = admitterOf(today);
      assert.strictEqual(yield* admit(one, 1), 1);
      assert.strictEqual(yield* admit(other, 39), 39);
      yield* untilSaved(today, 40);
      yield* server.ask("FLUSHALL");
      assert.strictEqual(yield* admit(one, 80), 10);
      assert.strictEqual(yield* admit(other, 80), 0);
    }),
  );

  it.live("do not trust a Redis with an older state", () =>
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
      // The generation of an older state has ended.
      yield* server.ask("DEL", "accountlink:generation");
      assert.strictEqual(yield* admit(other, 80), 20);
    }),
  );

  it.live("do not read the ledger for windows that began on the same Redis", () =>
    Effect.gen(function* () {
      const server = yield* startRedis();
      const {
        nodes: [one],
        ledger,
      } = yield* openNodes(server.url);
      assert.strictEqual(yield* admitterOf(newDay())(one, 1), 1);
      const tomorrow = { key: `day:${crypto.randomUUID()}`, endsAt: Date.now() + day + hour };
      // If the ledger was read, this count would refuse requests.
      yield* ledger.saveCounts([{ ...tomorrow, counted: 40 }], 0);
      assert.strictEqual(yield* admitterOf(tomorrow)(one, limit), limit);
    }),
  );

  it.live("use node shares while Redis is down, and count these after it is back empty", () =>
    Effect.gen(function* () {
      const server = yield* startRedis();
      const { nodes, untilSaved } = yield* openNodes(server.url);
      const today = newDay();
      const admit = admitterOf(today);
      let admitted = yield* admit(nodes[0], 10);
      assert.strictEqual(admitted, 10);
      yield* untilSaved(today, 10);

      yield* server.kill;
      const share = yield* admit(nodes[0], limit);
      assert.strictEqual(share, (limit - 10) / 2);
      admitted += share;

      yield* server.restart;
      const others = nodes.map((node) => [node, admitterOf(newDay())] as const);
      yield* until(
        Effect.andThen(
          Effect.forEach(others, ([node, admitOther]) => admitOther(node, 1)),
          // Both windows and the generation.
          Effect.map(server.ask("DBSIZE"), (reply) => reply === ":3\r\n"),
        ),
      );
      for (const node of nodes) admitted += yield* admit(node, limit);
      assert.strictEqual(admitted, limit);
    }),
  );
});
