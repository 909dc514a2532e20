import { CacheMemory } from "@accountlink/cache-memory";
import { Counters, CountLedger, type LedgerWindow, ResilientCounters } from "@accountlink/core";
import { StorageMemory } from "@accountlink/storage-memory";
import { startRedis, whyNoRedis } from "@accountlink/test-servers";
import { assert, describe, it } from "@effect/vitest";
import { Context, Effect, Layer, Logger } from "effect";
import { openNode, until } from "./internal/test_redis.ts";

const missing = await whyNoRedis();
const hour = 3_600_000;
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
  /** Until so many counted and so many admitted alone are in the ledger. */
  const untilSaved = (window: LedgerWindow, counted: number, own: number) =>
    until(
      Effect.map(
        ledger.loadCounts("nobody", [window]),
        ([found]) => found?.counted === counted && found.others === own,
      ),
    );
  return { nodes, untilSaved };
});

const newDay = (): LedgerWindow => ({ key: `day:${crypto.randomUUID()}`, endsAt: Date.now() + hour });

/** Asks so often for a request of the day, and tells how often it was admitted. */
const askerOf =
  ({ key, endsAt }: LedgerWindow) =>
  (counters: Counters["Service"], requests: number) =>
    Effect.suspend(() => {
      const now = Date.now();
      return counters.admit([{ key, limit, durationMs: endsAt - now, durable: true }], now);
    }).pipe(
      Effect.replicateEffect(requests),
      Effect.map((admissions) => admissions.filter(({ admitted }) => admitted).length),
    );

describe.skipIf(missing !== null)(`resilient counters ${missing ?? "on Redis"}`, () => {
  it.live("do not reopen a day when Redis is emptied under them", () =>
    Effect.gen(function* () {
      const server = yield* startRedis();
      const {
        nodes: [one, other],
      } = yield* openNodes(server.url);
      const ask = askerOf(newDay());
      assert.strictEqual(yield* ask(one, 20), 20);
      assert.strictEqual(yield* ask(other, 20), 20);
      yield* server.ask("FLUSHALL");
      assert.strictEqual(yield* ask(other, 20), 10);
      assert.strictEqual(yield* ask(one, 20), 0);
    }),
  );

  it.live("go on by shares while Redis is away, and do not reopen a day when it comes back empty", () =>
    Effect.gen(function* () {
      const server = yield* startRedis();
      const { nodes, untilSaved } = yield* openNodes(server.url);
      const day = newDay();
      const ask = askerOf(day);
      let admitted = yield* ask(nodes[0], 10);
      assert.strictEqual(admitted, 10);
      yield* untilSaved(day, 10, 0);

      yield* server.kill;
      const share = yield* ask(nodes[0], limit);
      assert.isAtLeast(share, (limit - 10) / 2);
      assert.isBelow(share, limit - 10);
      admitted += share;
      yield* untilSaved(day, 10, share);

      yield* server.restart;
      const others = nodes.map((node) => [node, askerOf(newDay())] as const);
      yield* until(
        Effect.andThen(
          Effect.forEach(others, ([node, askOther]) => askOther(node, 1)),
          Effect.map(server.ask("DBSIZE"), (reply) => reply === ":2\r\n"),
        ),
      );
      for (const node of nodes) admitted += yield* ask(node, limit);
      assert.strictEqual(admitted, limit);
    }),
  );
});
