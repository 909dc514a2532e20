import { assert, describe, it } from "@effect/vitest";
import { Clock, Effect, Metric } from "effect";
import { TestClock } from "effect/testing";
import { dayMs } from "../timestamp.ts";
import { type CounterRule } from "./counters.ts";
import { saveInterval } from "./durable_counters.ts";
import { nodeTimeoutMs } from "./live_nodes.ts";
import { decidesAlone, restoredWindows } from "./resilient_counters.ts";
import { admittedOf, dayRule, type Node, noon, openNodes } from "./test_deployment.ts";

const second: CounterRule = { key: "second:a", limit: 5, durationMs: 1_000 };

/** Sends each node twice as many requests as the limit, and returns how many requests each node admits. */
const exhaust = (nodes: ReadonlyArray<Node>, rule: CounterRule) =>
  Effect.forEach(nodes, (node) => admittedOf(node, rule, 2 * rule.limit));

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, next) => total + next, 0);

const stateOf = ({ counters }: Node, rule: CounterRule) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.map(counters.read([rule], now), ([state]) => state?.count),
  );

describe("ResilientCounters", () => {
  it.effect("all nodes share the counts of a window, and read the ledger only once for a daily limit", () =>
    Effect.gen(function* () {
      const { nodes, state } = yield* openNodes(3);
      const rule = yield* dayRule(20);
      const before = state.ledgerCalls;
      assert.strictEqual(sum(yield* exhaust(nodes, rule)), 20);
      assert.strictEqual(sum(yield* exhaust(nodes, second)), 5);
      assert.strictEqual(state.ledgerCalls - before, 1);
    }),
  );

  it.effect("counters do not read the ledger for a day that began after the shared counters started", () =>
    Effect.gen(function* () {
      const midnight = noon + dayMs / 2;
      const { nodes, state } = yield* openNodes(1, midnight - 60_000);
      yield* TestClock.setTime(midnight);
      const before = state.ledgerCalls;
      assert.strictEqual(sum(yield* exhaust(nodes, yield* dayRule(20))), 20);
      assert.strictEqual(state.ledgerCalls - before, 0);
    }),
  );

  describe("while the shared counters fail", () => {
    it.effect("in an outage, each node admits its share of the day's remaining limit", () =>
      Effect.gen(function* () {
        const { nodes, state } = yield* openNodes(3);
        const rule = yield* dayRule(100);
        assert.strictEqual(yield* admittedOf(nodes[0], rule, 40), 40);
        yield* TestClock.adjust(saveInterval);
        state.isSharedDown = true;
        assert.deepStrictEqual(yield* exhaust(nodes, yield* dayRule(100)), [20, 20, 20]);
        yield* TestClock.adjust("2 seconds");
        assert.deepStrictEqual(yield* exhaust(nodes, yield* dayRule(100)), [0, 0, 0]);
      }),
    );

    it.effect("in an outage, each node's share is the limit divided by the number of live nodes", () =>
      Effect.gen(function* () {
        const { nodes, state, openNode } = yield* openNodes(2);
        const [first, other] = nodes;
        state.isSharedDown = true;
        const shareOf = Effect.fnUntraced(function* (node: Node) {
          yield* TestClock.adjust("3 seconds");
          return yield* admittedOf(node, { ...second, limit: 12 }, 24);
        });
        assert.strictEqual(yield* shareOf(first), 6);
        const third = yield* openNode;
        assert.strictEqual(yield* shareOf(first), 4);
        yield* third.stop;
        assert.strictEqual(yield* shareOf(first), 6);
        yield* (other as Node).stop;
        assert.strictEqual(yield* shareOf(first), 12);
      }),
    );

    it.effect(
      "the number of live nodes is kept while the ledger fails, and does not include killed nodes",
      () =>
        Effect.gen(function* () {
          const { nodes, state, ledger } = yield* openNodes(1);
          const now = yield* Clock.currentTimeMillis;
          yield* ledger.renewNode("killed", now + nodeTimeoutMs, now);
          yield* TestClock.adjust("2 seconds");
          state.isSharedDown = true;
          state.isLedgerDown = true;
          yield* TestClock.adjust(nodeTimeoutMs);
          assert.strictEqual(yield* admittedOf(nodes[0], second, 10), 3);
          state.isLedgerDown = false;
          yield* TestClock.adjust("2 seconds");
          assert.strictEqual(yield* admittedOf(nodes[0], second, 10), 5);
        }),
    );

    it.effect("in an outage, a node reports only the requests that are left in its own share", () =>
      Effect.gen(function* () {
        const { nodes, state } = yield* openNodes(2);
        state.isSharedDown = true;
        const { counters } = nodes[0];
        const rules = [second, yield* dayRule(5)];
        const now = yield* Clock.currentTimeMillis;
        const counts = yield* Effect.forEach(Array.from({ length: 4 }), () =>
          Effect.map(counters.admit(rules, now), ({ admitted, states }) => [
            admitted,
            ...states.map(({ count }) => count),
          ]),
        );
        assert.deepStrictEqual(counts, [
          [true, 3, 3],
          [true, 4, 4],
          [true, 5, 5],
          [false, 5, 5],
        ]);
        assert.strictEqual(yield* stateOf(nodes[0], second), 5);
        assert.strictEqual(yield* stateOf(nodes[1] as Node, second), 2);
      }),
    );

    it.effect("the metric `decidesAlone` is 1 in an outage, until the shared counters answer again", () =>
      Effect.gen(function* () {
        const { nodes, state } = yield* openNodes(1);
        const gauge = Effect.map(Metric.value(decidesAlone), ({ value }) => value);
        const after = Effect.andThen(admittedOf(nodes[0], second, 1), gauge);
        assert.strictEqual(yield* after, 0);
        state.isSharedDown = true;
        assert.strictEqual(yield* after, 1);
        yield* nodes[0].counters.admit([], yield* Clock.currentTimeMillis);
        assert.strictEqual(yield* gauge, 1);
        state.isSharedDown = false;
        assert.strictEqual(yield* after, 0);
      }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())),
    );
  });

  describe("when the shared counters are back", () => {
    it.effect(
      "requests that a node admitted in an outage are added to the shared counters with its next request of that day",
      () =>
        Effect.gen(function* () {
          const { nodes, state } = yield* openNodes(2);
          const [first, other] = nodes as [Node, Node];
          assert.strictEqual(yield* admittedOf(other, yield* dayRule(100), 10), 10);
          yield* TestClock.adjust(saveInterval);
          state.isSharedDown = true;
          assert.strictEqual(yield* admittedOf(first, yield* dayRule(100), 30), 30);
          state.isSharedDown = false;
          assert.strictEqual(yield* admittedOf(first, yield* dayRule(100), 1), 1);
          assert.strictEqual(yield* admittedOf(other, yield* dayRule(100), 100), 59);
          assert.strictEqual(yield* stateOf(other, yield* dayRule(100)), 100);
          assert.strictEqual(yield* admittedOf(first, yield* dayRule(100), 10), 0);
        }),
    );
  });

  describe("when the shared counters lose their data", () => {
    it.effect(
      "a node uses the ledger to restore lost counts, even if the node has counted no requests itself",
      () =>
        Effect.gen(function* () {
          const { nodes, lose } = yield* openNodes(2);
          const [first, other] = nodes as [Node, Node];
          assert.strictEqual(yield* admittedOf(first, yield* dayRule(100), 60), 60);
          yield* TestClock.adjust(saveInterval);
          yield* lose;
          assert.strictEqual(yield* admittedOf(other, yield* dayRule(100), 10), 10);
          assert.strictEqual(yield* stateOf(first, yield* dayRule(100)), 70);
          assert.strictEqual(sum(yield* exhaust(nodes, yield* dayRule(100))), 30);
        }),
    );

    it.effect("a node restores lost counts that it has not saved, and a metric counts the loss", () =>
      Effect.gen(function* () {
        const { nodes, lose, shared } = yield* openNodes(1);
        const lost = Effect.map(Metric.value(restoredWindows), ({ count }) => count);
        assert.strictEqual(yield* admittedOf(nodes[0], yield* dayRule(100), 60), 60);
        yield* lose;
        assert.strictEqual(yield* lost, 0);
        const rule = yield* dayRule(100);
        assert.strictEqual(yield* admittedOf(nodes[0], rule, 1), 1);
        assert.strictEqual(yield* lost, 1);
        const [held] = yield* shared().read([rule], yield* Clock.currentTimeMillis);
        assert.strictEqual(held?.count, 61);
        assert.strictEqual(yield* admittedOf(nodes[0], rule, 100), 39);
        assert.strictEqual(yield* lost, 1);
      }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())),
    );

    it.effect("after a loss of counts, a node decides by its share until the ledger answers", () =>
      Effect.gen(function* () {
        const { nodes, lose, state } = yield* openNodes(2);
        const [first, other] = nodes as [Node, Node];
        assert.strictEqual(yield* admittedOf(first, yield* dayRule(100), 60), 60);
        yield* TestClock.adjust(saveInterval);
        state.isLedgerDown = true;
        yield* lose;
        assert.strictEqual(yield* admittedOf(other, yield* dayRule(100), 100), 50);
        state.isLedgerDown = false;
        assert.strictEqual(yield* admittedOf(first, yield* dayRule(100), 1), 1);
        assert.strictEqual(yield* admittedOf(other, yield* dayRule(100), 100), 0);
        assert.strictEqual(yield* stateOf(first, yield* dayRule(100)), 111);
      }),
    );

    it.effect("after midnight, counters do not restore the counts of the previous day", () =>
      Effect.gen(function* () {
        const { nodes } = yield* openNodes(1, noon + dayMs / 2 - 10_000);
        assert.strictEqual(yield* admittedOf(nodes[0], yield* dayRule(10), 20), 10);
        yield* TestClock.adjust("7 seconds");
        assert.strictEqual(yield* admittedOf(nodes[0], yield* dayRule(10), 20), 10);
      }),
    );
  });

  it.effect("counters save the last counts when their scope closes", () =>
    Effect.gen(function* () {
      const { nodes, openNode, lose } = yield* openNodes(1);
      assert.strictEqual(yield* admittedOf(nodes[0], yield* dayRule(100), 60), 60);
      yield* nodes[0].stop;
      yield* lose;
      assert.strictEqual(yield* admittedOf(yield* openNode, yield* dayRule(100), 100), 40);
    }),
  );

  it.effect("counters save the counts of an interrupted save when their scope closes", () =>
    Effect.gen(function* () {
      const { nodes, openNode, lose, state } = yield* openNodes(1);
      assert.strictEqual(yield* admittedOf(nodes[0], yield* dayRule(100), 60), 60);
      state.ledgerDelay = "1 second";
      yield* TestClock.adjust(saveInterval - 2_500);
      state.ledgerDelay = 0;
      yield* nodes[0].stop;
      yield* lose;
      assert.strictEqual(yield* admittedOf(yield* openNode, yield* dayRule(100), 100), 40);
    }),
  );

  it.effect("counters still count while the ledger fails, and save the counts afterwards", () =>
    Effect.gen(function* () {
      const { nodes, openNode, lose, state } = yield* openNodes(1);
      assert.strictEqual(yield* admittedOf(nodes[0], yield* dayRule(100), 1), 1);
      state.isLedgerDown = true;
      assert.strictEqual(yield* admittedOf(nodes[0], yield* dayRule(100), 59), 59);
      yield* TestClock.adjust(2 * saveInterval);
      state.isLedgerDown = false;
      yield* TestClock.adjust(saveInterval);
      yield* lose;
      assert.strictEqual(yield* admittedOf(yield* openNode, yield* dayRule(100), 100), 40);
    }),
  );
});
