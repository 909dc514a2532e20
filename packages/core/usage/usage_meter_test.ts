import { StorageMemory } from "@accountlink/memory";
import { assert, test } from "@accountlink/test-servers/effect";
import { Clock, Context, Effect, Exit, Layer, Logger, Scope } from "effect";
import { TestClock } from "effect/testing";
import { StoreUnavailable } from "../errors.ts";
import type { KeyId } from "../ids.ts";
import { dayMs } from "../timestamp.ts";
import { flushInterval, UsageMeter } from "./usage_meter.ts";
import type { UsageGroup, UsageOutcome } from "./usage_store.ts";
import { UsageStore } from "./usage_store.ts";

const key = "Aa0Bb1Cc2Dd3" as KeyId;
const today = 20_000 * dayMs;

/**
 * How `add` of the test store behaves. `well`: adds. `down`: fails without adding. `answer lost`: adds, but fails.
 * `silent`: adds, but never ends.
 */
type Mode = "well" | "down" | "answer lost" | "silent";

const makeBenchAt = Effect.fnUntraced(function* (time: number) {
  yield* TestClock.setTime(time);
  const state: { mode: Mode; adds: number } = { mode: "well", adds: 0 };
  const store = Context.get(yield* Layer.build(Layer.fresh(StorageMemory.layer)), UsageStore);
  const unavailable = Effect.fail(new StoreUnavailable({ operation: "UsageStore.add" }));
  const add: UsageStore["Service"]["add"] = (batch) =>
    Effect.suspend(() => {
      state.adds++;
      switch (state.mode) {
        case "well":
          return store.add(batch);
        case "down":
          return unavailable;
        case "answer lost":
          return Effect.andThen(store.add(batch), unavailable);
        case "silent":
          return Effect.andThen(store.add(batch), Effect.never);
      }
    });
  const scope = yield* Scope.make();
  const context = yield* UsageMeter.layer.pipe(
    Layer.provide([Layer.succeed(UsageStore, { ...store, add }), Logger.layer([])]),
    Layer.buildWithScope(scope),
  );
  const meter = Context.get(context, UsageMeter);
  const count = (outcome: UsageOutcome, group: UsageGroup = "lookup", of = key) =>
    Effect.map(Clock.currentTimeMillis, (at) => meter.count(of, group, outcome, at));
  const saved = Effect.map(store.days({ key }, 0), (days) =>
    days.map(({ from, group, ...counts }) => [
      (from - today) / dayMs,
      group,
      counts.served,
      counts.refused,
      counts.errors,
    ]),
  );
  return { state, store, count, saved, stop: Scope.close(scope, Exit.void) };
});

const makeBench = makeBenchAt(today + dayMs / 2);

const nextFlush = TestClock.adjust(flushInterval);

test("a request counts on the day of its answer, also while the store is down", function* () {
  const { state, count, saved } = yield* makeBenchAt(today + dayMs - flushInterval);
  state.mode = "down";
  yield* count("served");
  yield* nextFlush;
  yield* count("refused");
  state.mode = "well";
  yield* TestClock.adjust(2 * flushInterval);
  assert.deepStrictEqual(yield* saved, [
    [0, "lookup", 1, 0, 0],
    [1, "lookup", 0, 1, 0],
  ]);
});

test("a batch whose save was not acknowledged counts once", function* () {
  const { state, count, saved } = yield* makeBench;
  state.mode = "answer lost";
  yield* count("served");
  yield* nextFlush;
  yield* count("served");
  yield* nextFlush;
  state.mode = "well";
  yield* TestClock.adjust(2 * flushInterval);
  assert.deepStrictEqual(yield* saved, [[0, "lookup", 2, 0, 0]]);
});

test("a usage meter that stops saves the remaining counts once, even while another save runs", function* () {
  const { state, count, saved, stop } = yield* makeBench;
  state.mode = "silent";
  yield* count("served");
  yield* nextFlush;
  yield* count("served");
  state.mode = "well";
  yield* stop;
  assert.deepStrictEqual(yield* saved, [[0, "lookup", 2, 0, 0]]);
});

test("a meter saves the counts of 2,500 keys in three batches", function* () {
  const { state, store, count, stop } = yield* makeBench;
  const keys = Array.from({ length: 2_500 }, (_, index) => `${100_000_000_000 + index}` as KeyId);
  for (const each of keys) yield* count("served", "bulk", each);
  // Waits for all of them, as a flush by the clock does not.
  yield* stop;
  assert.strictEqual(state.adds, 3);
  for (const each of [keys[0], keys[2_499]] as ReadonlyArray<KeyId>) {
    assert.strictEqual((yield* store.days({ key: each }, 0))[0]?.served, 1);
  }
});
