import { assert, describe, it } from "@effect/vitest";
import { Cause, Deferred, Effect, Exit, Fiber } from "effect";
import { LinkNotFound } from "./errors.ts";
import * as Immediate from "./immediate.ts";

/** Runs an effect that must not wait. */
const runAtOnce = <A, E>(effect: Effect.Effect<A, E>): Exit.Exit<A, E> => {
  const exit = Effect.runFork(effect).pollUnsafe();
  if (exit === undefined) throw new Error("The effect waits");
  return exit;
};

/** Counts the operations that the fiber evaluates for an effect. */
const operationsOf = (effect: Effect.Effect<unknown, unknown>): number => {
  const fiber = Effect.runFork(effect);
  return fiber.currentOpCount;
};

const add = Immediate.fn(function* (one: Effect.Effect<number>, other: Effect.Effect<number>) {
  return (yield* one) + (yield* other);
});

describe("Immediate", () => {
  it("nested Immediates run as one operation of their fiber", () => {
    const two = Immediate.sync(() => 2);
    const nested = add(
      add(two, two),
      Immediate.flatMap(add(two, two), (sum) => Immediate.sync(() => sum)),
    );
    assert.deepStrictEqual(runAtOnce(nested), Exit.succeed(8));
    assert.isBelow(operationsOf(nested), 4);
  });

  it("an Immediate is evaluated again at each run", () => {
    let count = 0;
    const next = Immediate.map(
      Immediate.sync(() => ++count),
      (value) => value * 10,
    );
    assert.strictEqual(count, 0);
    assert.deepStrictEqual(runAtOnce(next), Exit.succeed(10));
    assert.deepStrictEqual(runAtOnce(next), Exit.succeed(20));
  });

  it.effect("an Immediate continues after an effect inside it has waited", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<number>();
      const fiber = yield* Effect.forkChild(
        add(
          Deferred.await(gate),
          Immediate.sync(() => 1),
        ),
      );
      yield* Deferred.succeed(gate, 41);
      assert.strictEqual(yield* Fiber.join(fiber), 42);
    }),
  );

  it.effect("an Immediate can be interrupted while an effect inside it waits", () =>
    Effect.gen(function* () {
      let wentOn = false;
      const waiting = Immediate.map(add(Effect.never, Effect.succeed(1)), () => {
        wentOn = true;
      });
      const fiber = yield* Effect.forkChild(waiting, { startImmediately: true });
      yield* Fiber.interrupt(fiber);
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)));
      assert.isFalse(wentOn);
    }),
  );

  it("an Immediate fails at once with an error that it yields", () => {
    const error = new LinkNotFound();
    const failing = Immediate.fn(function* () {
      return yield* error;
    });
    assert.deepStrictEqual(runAtOnce(failing()), Exit.fail(error));
    assert.isBelow(operationsOf(failing()), 4);
  });

  it("an Immediate fails with the first error and skips the rest", () => {
    let wentOn = false;
    const failing = Immediate.fn(function* () {
      yield* Effect.fail("no");
      wentOn = true;
    });
    assert.deepStrictEqual(runAtOnce(failing()), Exit.fail("no"));
    assert.isFalse(wentOn);
  });

  it("an Immediate dies if an effect inside it throws, and the defect can be caught", () => {
    const broken = Immediate.sync((): number => {
      throw new Error("broken");
    });
    const exit = runAtOnce(add(broken, broken));
    assert.isTrue(Exit.hasDies(exit));
    const caught = Immediate.matchCauseEffect(broken, {
      onSuccess: Effect.succeed,
      onFailure: (cause) => Effect.succeed(Cause.hasDies(cause)),
    });
    assert.deepStrictEqual(runAtOnce(caught), Exit.succeed(true));
  });

  it.effect("matchCauseEffect handles the result of an effect that ends at once, and of one that waits", () =>
    Effect.gen(function* () {
      const outcomeOf = (effect: Effect.Effect<number, string>) =>
        Immediate.matchCauseEffect(effect, {
          onSuccess: (value) => Immediate.sync(() => `got ${value}`),
          onFailure: (cause) => Effect.succeed(Cause.squash(cause)),
        });
      assert.strictEqual(yield* outcomeOf(Immediate.sync(() => 1)), "got 1");
      assert.strictEqual(yield* outcomeOf(Effect.fail("no")), "no");
      assert.strictEqual(yield* outcomeOf(Effect.as(Effect.yieldNow, 2)), "got 2");
      assert.strictEqual(yield* outcomeOf(Effect.andThen(Effect.yieldNow, Effect.fail("late"))), "late");
    }),
  );

  it("if the first effect ends at once, Immediate.meanwhile runs the second effect after it", () => {
    const order: Array<string> = [];
    const step = (name: string) => Immediate.sync(() => order.push(name));
    assert.deepStrictEqual(runAtOnce(Immediate.meanwhile(step("first"), step("second"))), Exit.succeed(2));
    assert.deepStrictEqual(order, ["first", "second"]);
  });

  it.effect(
    "while the first effect waits, Immediate.meanwhile runs the second effect once and returns the second's outcome",
    () =>
      Effect.gen(function* () {
        const gate = yield* Deferred.make<number>();
        let runs = 0;
        const second = Effect.suspend(() => (++runs === 1 ? Effect.fail("no") : Effect.succeed(runs)));
        const fiber = yield* Effect.forkChild(Immediate.meanwhile(Deferred.await(gate), second), {
          startImmediately: true,
        });
        assert.strictEqual(runs, 1);
        yield* Deferred.succeed(gate, 41);
        assert.strictEqual(yield* Effect.flip(Fiber.join(fiber)), "no");
        assert.strictEqual(runs, 1);
      }),
  );

  it.effect("Immediate.meanwhile interrupts the second effect if the first fails", () =>
    Effect.gen(function* () {
      let isInterrupted = false;
      const first = Effect.andThen(Effect.yieldNow, Effect.fail("no"));
      const second = Effect.onInterrupt(Effect.never, () =>
        Effect.sync(() => {
          isInterrupted = true;
        }),
      );
      const exit = yield* Fiber.await(yield* Effect.forkChild(Immediate.meanwhile(first, second)));
      assert.deepStrictEqual(exit, Exit.fail("no"));
      assert.isTrue(isInterrupted);
    }),
  );
});
