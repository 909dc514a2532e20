import { CacheMemory } from "@accountlink/memory";
import { assert, test } from "@accountlink/test-servers/effect";
import { Context, Effect, Layer, Metric } from "effect";
import { StoreUnavailable } from "../errors.ts";
import { type CounterRule, Counters } from "./counters.ts";
import * as FallbackCounters from "./fallback_counters.ts";

const limit = 5;
const day: CounterRule = { key: "day:a", limit, durationMs: 86_400_000, isDay: true };

/** Opens nodes that share counters, which fail while `isDown`. */
const openNodes = Effect.fnUntraced(function* (count: number) {
  const state = { isDown: false };
  const unlessDown = <A>(answer: Effect.Effect<A, StoreUnavailable>) =>
    Effect.suspend(() =>
      state.isDown ? Effect.fail(new StoreUnavailable({ operation: "Counters" })) : answer,
    );
  const shared = Context.get(yield* Layer.build(Layer.fresh(CacheMemory.layer)), Counters);
  const failing = Counters.of({
    admit: (rules, now) => unlessDown(shared.admit(rules, now)),
    read: (rules, now) => unlessDown(shared.read(rules, now)),
  });
  const open = Layer.build(Layer.fresh(FallbackCounters.layer(CacheMemory.layer))).pipe(
    Effect.provideService(Counters, failing),
    Effect.map((ports) => Context.get(ports, Counters)),
  );
  const nodes = yield* Effect.replicateEffect(open, count);
  return { state, nodes: nodes as [Counters["Service"], ...Array<Counters["Service"]>] };
});

const admittedOf = (node: Counters["Service"], requests: number) =>
  Effect.map(
    Effect.replicateEffect(node.admit([day], 0), requests),
    (admissions) => admissions.filter(({ admitted }) => admitted).length,
  );

const isAlone = Effect.map(Metric.value(FallbackCounters.countsAlone), ({ value }) => value);

test("nodes share a limit, and each counts alone against the whole limit in an outage", function* () {
  const { state, nodes } = yield* openNodes(3);
  assert.strictEqual(yield* admittedOf(nodes[0], 2), 2);
  assert.strictEqual(yield* isAlone, 0);
  state.isDown = true;
  assert.deepStrictEqual(yield* Effect.forEach(nodes, (node) => admittedOf(node, 9)), [3, 5, 5]);
  assert.strictEqual(yield* isAlone, 1);
  state.isDown = false;
  assert.deepStrictEqual(yield* Effect.forEach(nodes, (node) => admittedOf(node, 9)), [3, 0, 0]);
  assert.strictEqual(yield* isAlone, 0);
});

test("a limit that a node used up stays used up in an outage", function* () {
  const { state, nodes } = yield* openNodes(1);
  const [node] = nodes;
  assert.strictEqual(yield* admittedOf(node, 9), limit);
  state.isDown = true;
  assert.strictEqual(yield* admittedOf(node, 1), 0);
  const [read] = yield* node.read([day], 0);
  assert.strictEqual(read?.count, limit);
});

test("a request without limits says nothing about an outage", function* () {
  const { state, nodes } = yield* openNodes(1);
  const [node] = nodes;
  state.isDown = true;
  yield* node.admit([day], 0);
  assert.deepStrictEqual(yield* node.admit([], 0), { admitted: true, states: [] });
  assert.strictEqual(yield* isAlone, 1);
});
