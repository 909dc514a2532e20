import { PlatformMemory } from "@accountlink/memory";
import { assert, test, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer, Option } from "effect";
import { TestClock } from "effect/testing";
import * as AccountLink from "../account_link.ts";
import type { Sid } from "../ids.ts";
import { later, platform, stores } from "../test_services.ts";
import { SessionSettings } from "./session_settings.ts";
import { SessionStore } from "./session_store.ts";
import { sessionIdOf, setup } from "./test_sessions.ts";

const day = 86_400_000;

testWith(Layer.fresh(stores))("sessions expire at their deadline, and are deleted a day later", function* () {
  const running = Layer.fresh(AccountLink.layer.pipe(Layer.provideMerge(PlatformMemory.layer(platform))));
  const stateOf = (sid: Sid) =>
    Effect.gen(function* () {
      const found = yield* (yield* SessionStore).find(yield* sessionIdOf(sid));
      return Option.getOrNull(found)?.state ?? null;
    });
  const sid = yield* Effect.gen(function* () {
    const { sid: created, poll } = yield* setup;
    yield* TestClock.setTime(299_999);
    assert.strictEqual(yield* stateOf(created), "pending");
    yield* TestClock.setTime(310_000);
    assert.strictEqual(yield* stateOf(created), "expired");
    const pollAt = (time: number) => Effect.flip(later(time - 310_000)(poll()));
    assert.deepInclude(yield* pollAt(300_000 + day - 1), { _tag: "SessionExpired" });
    assert.deepInclude(yield* pollAt(300_000 + day), { _tag: "SessionNotFound" });
    return created;
  }).pipe(Effect.provide(running));
  // No service is running now, so nothing is swept while the clock moves on by a day.
  yield* TestClock.setTime(300_000 + day - 1);
  yield* Effect.gen(function* () {
    yield* TestClock.adjust(0);
    assert.strictEqual(yield* stateOf(sid), "expired");
    yield* TestClock.adjust("20 seconds");
    assert.isNull(yield* stateOf(sid));
  }).pipe(Effect.provide(running));
});

test.each([
  { sightingRetention: 15_552_000_000, expected: 4_448_000_000 },
  { sightingRetention: 0, expected: 20_000_000_000 },
])("a sweep deletes sightings after a retention of $sightingRetention ms", function* (rule) {
  yield* TestClock.setTime(20_000_000_000);
  const before: Array<number> = [];
  const recording = Layer.mock(SessionStore)({
    sweep: ({ sightingsBefore }) => Effect.sync(() => (before.push(sightingsBefore), [])),
  });
  const { sightingRetention, expected } = rule;
  const usual = yield* SessionSettings;
  yield* Layer.build(
    AccountLink.layer.pipe(
      Layer.provide(Layer.merge(Layer.provideMerge(recording, stores), PlatformMemory.layer(platform))),
      Layer.provide(Layer.succeed(SessionSettings, { ...usual, sightingRetention })),
      Layer.fresh,
    ),
  );
  yield* TestClock.adjust(1);
  assert.deepStrictEqual(before, [expected]);
});
