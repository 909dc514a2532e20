import { PlatformMemory } from "@accountlink/platform-memory";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer, Option } from "effect";
import { TestClock } from "effect/testing";
import * as AccountLink from "../account_link.ts";
import { platform, stores, world } from "../test_world.ts";
import { SessionSettings } from "./session_settings.ts";
import { SessionStore, type SweepSessions } from "./session_store.ts";
import { sessionIdOf, setup } from "./test_sessions.ts";

const day = 86_400_000;

describe("The sweep of sessions", () => {
  it.effect("expires sessions at their deadline, and deletes them a day later", () =>
    Effect.gen(function* () {
      const { sid, poll } = yield* setup;
      const store = yield* SessionStore;
      const stateOf = Effect.map(
        store.find(yield* sessionIdOf(sid)),
        (found) => Option.getOrNull(found)?.state ?? null,
      );
      yield* TestClock.setTime(299_999);
      assert.strictEqual(yield* stateOf, "pending");
      yield* TestClock.setTime(310_000);
      assert.strictEqual(yield* stateOf, "expired");

      yield* TestClock.setTime(300_000 + day - 1);
      assert.deepInclude(yield* Effect.flip(poll()), { _tag: "SessionExpired" });
      yield* TestClock.adjust(1);
      assert.deepInclude(yield* Effect.flip(poll()), { _tag: "SessionNotFound" });
      yield* TestClock.adjust("20 seconds");
      assert.isNull(yield* stateOf);
    }).pipe(Effect.provide(world)),
  );

  it.effect.each([
    { sightingRetention: 15_552_000_000, expected: 4_448_000_000 },
    { sightingRetention: 0, expected: 20_000_000_000 },
  ])("deletes sightings after a retention of $sightingRetention ms", (rule) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(20_000_000_000);
      const sweeps: Array<SweepSessions> = [];
      const recording = Layer.effect(
        SessionStore,
        Effect.map(SessionStore, (store) =>
          SessionStore.of({
            ...store,
            sweep: (sweep) =>
              Effect.andThen(
                Effect.sync(() => sweeps.push(sweep)),
                store.sweep(sweep),
              ),
          }),
        ),
      );
      const { sightingRetention, expected } = rule;
      const usual = yield* SessionSettings;
      yield* Layer.build(
        AccountLink.layer.pipe(
          Layer.provide(
            Layer.merge(recording.pipe(Layer.provideMerge(stores)), PlatformMemory.layer(platform)),
          ),
          Layer.provide(Layer.succeed(SessionSettings, { ...usual, sightingRetention })),
          Layer.fresh,
        ),
      );
      yield* TestClock.adjust(1);
      assert.deepStrictEqual(
        sweeps.map(({ sightingsBefore }) => sightingsBefore),
        [expected],
      );
    }),
  );
});
