import { expect, test } from "@accountlink/test-servers/effect";
import { Effect, Fiber, Latch } from "effect";
import { AskedSends } from "./requested_send.ts";

test("an account is counted while it has deliveries in flight, and is forgotten however they end", function* () {
  const sends = new AskedSends();
  const latch = Latch.makeUnsafe(false);
  const hold = Effect.forkChild(sends.run("a", latch.await), { startImmediately: true });
  const first = yield* hold;
  const others = [yield* hold, yield* hold];
  expect(yield* Effect.flip(sends.run("a", Effect.void))).toMatchObject({ reason: "test_limit" });
  expect(yield* sends.run("b", Effect.succeed("sent"))).toBe("sent");
  expect(yield* Effect.flip(sends.run("c", Effect.fail("refused")))).toBe("refused");
  expect(sends.accounts).toBe(1);
  yield* Fiber.interrupt(first);
  expect(yield* sends.run("a", Effect.succeed("sent"))).toBe("sent");
  yield* latch.open;
  yield* Fiber.joinAll(others);
  expect(sends.accounts).toBe(0);
});
