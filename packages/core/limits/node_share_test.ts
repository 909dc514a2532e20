import { assert, describe, it } from "@effect/vitest";
import { Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { dayMs } from "../timestamp.ts";
import { admittedOf, dayRule, noon, openNodes } from "./test_deployment.ts";

describe("A node's share of a day", () => {
  it.effect("requests that are being sent to the shared counters still count against a node's share", () =>
    Effect.gen(function* () {
      const { nodes, state } = yield* openNodes(2);
      state.isSharedDown = true;
      assert.strictEqual(yield* admittedOf(nodes[0], yield* dayRule(100), 100), 50);
      state.isSharedDown = false;
      yield* admittedOf(nodes[0], { key: "other", limit: 1, durationMs: 1_000 }, 1);
      Object.assign(state, { isSharedDown: true, sharedDelay: "1 second" });
      const late = yield* Effect.forkChild(admittedOf(nodes[0], yield* dayRule(100), 1), {
        startImmediately: true,
      });
      state.sharedDelay = 0;
      assert.strictEqual(yield* admittedOf(nodes[0], yield* dayRule(100), 100), 25);
      yield* TestClock.adjust("1 second");
      assert.strictEqual(yield* Fiber.join(late), 0);
      state.isSharedDown = false;
      assert.strictEqual(yield* admittedOf(nodes[0], yield* dayRule(100), 100), 25);
    }),
  );

  it.effect("after midnight, a node's share is computed from the new day's limit", () =>
    Effect.gen(function* () {
      const { nodes, state } = yield* openNodes(2, noon + dayMs / 2 - 10_000);
      assert.strictEqual(yield* admittedOf(nodes[0], yield* dayRule(100), 60), 60);
      state.isSharedDown = true;
      assert.strictEqual(yield* admittedOf(nodes[0], yield* dayRule(100), 100), 20);
      yield* TestClock.adjust("7 seconds");
      assert.strictEqual(yield* admittedOf(nodes[0], yield* dayRule(100), 100), 50);
    }),
  );
});
