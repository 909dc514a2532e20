import { assert, test } from "@accountlink/test-servers/effect";
import { Effect, Fiber } from "effect";
import { warnOnce } from "./warn_once.ts";

test("a repeated effect goes on after a failure, a defect and an interruption of a store", function* () {
  const ends = [Effect.fail("down"), Effect.die("broken"), Effect.interrupt, Effect.void];
  const run = yield* warnOnce(
    "Cannot poll",
    Effect.suspend(() => ends.shift() ?? Effect.never),
  );
  const repeated = yield* Effect.forkChild(Effect.forever(run));
  for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow;
  assert.isEmpty(ends);
  assert.isUndefined(repeated.pollUnsafe());
  yield* Fiber.interrupt(repeated);
  assert.isDefined(repeated.pollUnsafe());
});
