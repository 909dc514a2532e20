import { assert, it, test } from "@accountlink/test-servers/effect";
import { Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { GatewayPauses, pauseBefore } from "./gateway_pauses.ts";

it("pauses double up to 10 minutes, and chance takes at most half", () => {
  const pauses = Array.from({ length: 14 }, (_, index) => pauseBefore(index + 1, 1));
  assert.deepEqual(pauses.slice(0, 5), [0, 1_000, 2_000, 4_000, 8_000]);
  assert.deepEqual(pauses.slice(-2), [600_000, 600_000]);
  assert.strictEqual(pauseBefore(14, 0), 300_000);
  // A day of refused connections, with the least luck.
  let [time, connections] = [0, 0];
  while (time < 86_400_000) time += pauseBefore(++connections, 0);
  assert.isBelow(connections, 320);
});

test("short pauses come back after a minute of a ready connection, and not before", function* () {
  const pauses = new GatewayPauses();
  const isWaiting = Effect.fnUntraced(function* (shard: number) {
    const fiber = yield* Effect.forkChild(pauses.before(shard));
    yield* TestClock.adjust("1 millis");
    const waits = fiber.pollUnsafe() === undefined;
    yield* TestClock.adjust("10 minutes");
    yield* Fiber.join(fiber);
    return waits;
  });
  assert.isFalse(yield* isWaiting(0));
  yield* pauses.ready(0);
  yield* TestClock.adjust("59 seconds");
  assert.isTrue(yield* isWaiting(0));
  assert.isFalse(yield* isWaiting(1));
  yield* pauses.ready(0);
  yield* TestClock.adjust("60 seconds");
  assert.isFalse(yield* isWaiting(0));
  assert.isTrue(yield* isWaiting(0));
});
