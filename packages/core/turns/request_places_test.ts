import { expect, testWith } from "@accountlink/test-servers/effect";
import { Deferred, Effect, Exit, Fiber, Option } from "effect";
import { TestClock } from "effect/testing";
import { parseAddress } from "../addresses/mod.ts";
import { bounds } from "./bounds.ts";
import { RequestPlaces } from "./request_places.ts";

const test = testWith(RequestPlaces.layer);

test.each([
  ["bulk", bounds.bulks],
  ["list", bounds.dearRequests],
  ["platform", bounds.dearRequests],
  ["write", bounds.writes],
  ["read", bounds.dearRequests],
  ["form", bounds.dearRequests],
] as const)(
  "an account has its places of the kind %s, and another account none that waits for them",
  function* ([kind, most]) {
    const places = yield* RequestPlaces;
    const started: Array<string> = [];
    const ask = (account: string) =>
      Effect.forkChild(
        places[kind](
          { account },
          Effect.suspend(() => {
            started.push(account);
            return Effect.never;
          }),
        ),
        { startImmediately: true },
      );
    for (let count = 0; count < most + 5; count++) yield* ask("ada");
    expect(started).toHaveLength(most);
    yield* ask("bob");
    expect(started.at(-1)).toBe("bob");
  },
);

test("a download counts as a read until it ends", function* () {
  const places = yield* RequestPlaces;
  const ended = yield* Deferred.make<void>();
  const download = Effect.scoped(Effect.andThen(places.takeRead({ account: "ada" }), Deferred.await(ended)));
  for (let count = 0; count < bounds.dearRequests; count++)
    yield* Effect.forkChild(download, { startImmediately: true });
  const next = yield* Effect.forkChild(places.read({ account: "ada" }, Effect.void), {
    startImmediately: true,
  });
  expect(next.pollUnsafe()).toBeUndefined();
  yield* Deferred.done(ended, Exit.void);
  yield* Fiber.join(next);
});

test("visits of all addresses begin a few at a time, and a platform that hangs stops none", function* () {
  const places = yield* RequestPlaces;
  const started: Array<string> = [];
  for (let count = 0; count < 2 * bounds.dearRequests; count++)
    yield* Effect.forkChild(
      places.visit(
        Option.getOrThrow(parseAddress(`198.18.0.${count}`)),
        Effect.suspend(() => {
          started.push(`198.18.0.${count}`);
          return Effect.never;
        }),
      ),
      { startImmediately: true },
    );
  expect(started).toHaveLength(bounds.dearRequests);
  yield* TestClock.adjust(bounds.commitJoined);
  expect(started).toHaveLength(2 * bounds.dearRequests);
});
