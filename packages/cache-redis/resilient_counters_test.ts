import { CacheMemory } from "@accountlink/cache-memory";
import { Counters, CountLedger, type LedgerWindow, ResilientCounters } from "@accountlink/core";
import { StorageMemory } from "@accountlink/storage-memory";
import { startRedis, whyNoRedis } from "@accountlink/test-servers";
import { assert, describe, it } from "@effect/vitest";
import { Context, Effect, Layer, Logger } from "effect";
import { openNode, until } from "./internal/test_redis.ts";

const missing = await whyNoRedis();
const hour = 3_600_000;
const day = 24 * hour;
const limit = 50;

/** Two nodes that count on the Redis, over a ledger, and know of each other. */
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
    const redis = yield* openNode(url, { commandTimeout: "200 millis" });
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
  /** Until so many are saved. */
  const untilSaved = (window: LedgerWindow, counted: number) =>
    until(Effect.map(ledger.loadCounts([window]), ([found]) => found === counted));
  return { nodes, ledger, untilSaved };
});

const newDay = (): LedgerWindow => ({ key: `day:${crypto.randomUUID()}`, endsAt: Date.now() + hour });

/** Asks so often for a request of the day, and tells how often it was admitted. */
const askerOf =
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
  it.live("of a burst on an emptied Redis admit what the saved day leaves", () =>
    Effect.gen(function* () {
      const server = yield* startRedis();
      const {
        nodes: [one, other],
        untilSaved,
      } = yield* openNodes(server.url);
      const today = newDay();
      const ask = askerOf(today);
      assert.strictEqual(yield* ask(one, 1), 1);
      assert.strictEqual(yield* ask(other, 39), 39);
      yield* untilSaved(today, 40);
      yield* server.ask("FLUSHALL");
      assert.strictEqual(yield* ask(one, 80), 10);
      assert.strictEqual(yield* ask(other, 80), 0);
    }),
  );

  it.live("do not trust a Redis that came back with an old state", () =>
    Effect.gen(function* () {
      const server = yield* startRedis();
      const {
        nodes: [one, other],
        ledger,
      } = yield* openNodes(server.url);
      const today = newDay();
      const ask = askerOf(today);
      assert.strictEqual(yield* ask(one, 10), 10);
      yield* ledger.saveCounts([{ ...today, counted: 30 }], 0);
      // An older state lacks what was counted since, and its generation is over.
      yield* server.ask("DEL", "accountlink:generation");
      assert.strictEqual(yield* ask(other, 80), 20);
    }),
  );

  it.live("read the ledger for no window that began with Redis watching", () =>
    Effect.gen(function* () {
      const server = yield* startRedis();
      const {
        nodes: [one],
        ledger,
      } = yield* openNodes(server.url);
      assert.strictEqual(yield* askerOf(newDay())(one, 1), 1);
      const tomorrow = { key: `day:${crypto.randomUUID()}`, endsAt: Date.now() + day + hour };
      // Redis would be given back more than it lost.
      yield* ledger.saveCounts([{ ...tomorrow, counted: 40 }], 0);
      assert.strictEqual(yield* askerOf(tomorrow)(one, limit), limit);
    }),
  );

  it.live("go on by shares while Redis is away, and count these when it is back empty", () =>
    Effect.gen(function* () {
      const server = yield* startRedis();
      const { nodes, untilSaved } = yield* openNodes(server.url);
      const today = newDay();
      const ask = askerOf(today);
      let admitted = yield* ask(nodes[0], 10);
      assert.strictEqual(admitted, 10);
      yield* untilSaved(today, 10);

      yield* server.kill;
      const share = yield* ask(nodes[0], limit);
      assert.strictEqual(share, (limit - 10) / 2);
      admitted += share;

      yield* server.restart;
      const others = nodes.map((node) => [node, askerOf(newDay())] as const);
      yield* until(
        Effect.andThen(
          Effect.forEach(others, ([node, askOther]) => askOther(node, 1)),
          // The windows of both, and the generation.
          Effect.map(server.ask("DBSIZE"), (reply) => reply === ":3\r\n"),
        ),
      );
      for (const node of nodes) admitted += yield* ask(node, limit);
      assert.strictEqual(admitted, limit);
    }),
  );
});
