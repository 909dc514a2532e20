import { Deferred, Effect } from "effect";
import { expect, test } from "vitest";
import { filterLimited, forEachLimited } from "./limited_loops.ts";

test("a loop with a limit runs each item once, also if an item ends another one while it starts", async () => {
  const runs: Array<number> = [];
  const ended = Deferred.makeUnsafe<void>();
  const effects = [Deferred.await(ended), Effect.yieldNow, Deferred.succeed(ended, undefined), Effect.void];
  const run = (effect: Effect.Effect<unknown>, index: number) =>
    Effect.andThen(
      Effect.sync(() => runs.push(index)),
      effect,
    );
  await Effect.runPromise(forEachLimited(effects, 2, run));
  expect(runs).toEqual([0, 1, 2, 3]);
});

test("a filter with a limit keeps the items that pass, in their order", async () => {
  const isEven = (item: number) => Effect.delay(Effect.succeed(item % 2 === 0), 4 - item);
  expect(await Effect.runPromise(filterLimited([1, 2, 3, 4], 2, isEven))).toEqual([2, 4]);
});
