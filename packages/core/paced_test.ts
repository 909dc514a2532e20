import { assert, test } from "@accountlink/test-servers/effect";
import { Clock, Effect } from "effect";
import { TestClock } from "effect/testing";
import { paced } from "./paced.ts";

test("paced pauses nine times as long as its effect ran, but at most half a second", function* () {
  const begun: Array<number> = [];
  let duration = 0;
  const work = Effect.gen(function* () {
    begun.push(yield* Clock.currentTimeMillis);
    yield* Effect.sleep(duration);
  });
  yield* Effect.forkChild(Effect.forever(paced(20, work)));
  yield* TestClock.adjust(40);
  assert.deepEqual(begun, [20, 40]);
  duration = 10;
  yield* TestClock.adjust(130);
  assert.deepEqual(begun, [20, 40, 60, 160]);
  duration = 1_000;
  yield* TestClock.adjust(3_000);
  assert.deepEqual(begun, [20, 40, 60, 160, 260, 1_760]);
});
