import { expect, test } from "@accountlink/test-servers/effect";
import { Effect, Stream } from "effect";
import { feedSteps } from "./feed_steps.ts";

test("a stream that reads past events without finding one sends a sign of life with each page", function* () {
  const nothing = Effect.succeed({ events: [], more: true, isEnded: false });
  const steps = feedSteps(
    { read: () => nothing, readNow: () => nothing, cursor: Effect.succeed("c") },
    Infinity,
  );
  const first = yield* Stream.runCollect(Stream.take(steps, 3));
  expect(Array.from(first, ({ step }) => step)).toEqual(["begin", "idle", "idle"]);
});
