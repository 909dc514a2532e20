import { assert, describe, it } from "@effect/vitest";
import { Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { world } from "../test_world.ts";
import { complete, hasEnded, listenTo, open, setup, worldWith } from "./test_sessions.ts";

describe("VerificationSessions.stream", () => {
  it.effect("sends the current state, each change, and the final state last", () =>
    Effect.gen(function* () {
      const { key, sid } = yield* setup;
      const { events, reading, names } = yield* listenTo(key, sid);
      assert.deepStrictEqual(names(), ["session"]);
      yield* open(sid);
      yield* complete(key, sid);
      yield* Fiber.join(reading);
      const states = events.map((event) =>
        "session" in event ? [event.event, event.session.state, event.session.change] : [],
      );
      assert.deepStrictEqual(states, [
        ["session", "pending", 1],
        ["session", "opened", 2],
        ["completed", "completed", 3],
      ]);
    }).pipe(Effect.provide(world)),
  );

  it.effect("sends idle every 10 seconds, and times out after 30", () =>
    Effect.gen(function* () {
      const { key, sid } = yield* setup;
      const { reading, names } = yield* listenTo(key, sid);
      yield* TestClock.adjust(9_999);
      assert.deepStrictEqual(names(), ["session"]);
      yield* TestClock.adjust(20_000);
      assert.deepStrictEqual(names(), ["session", "idle", "idle"]);
      assert.isFalse(hasEnded(reading));
      yield* TestClock.adjust(1);
      yield* Fiber.join(reading);
      assert.deepStrictEqual(names(), ["session", "idle", "idle", "timeout"]);
    }).pipe(Effect.provide(world)),
  );

  it.effect("starts with idle for a client that knows the current state", () =>
    Effect.gen(function* () {
      const { key, sid } = yield* setup;
      const { events, reading, names } = yield* listenTo(key, sid, "1");
      assert.deepStrictEqual(names(), ["idle"]);
      yield* open(sid);
      assert.deepStrictEqual(names(), ["idle", "session"]);
      assert.nestedPropertyVal(events[1], "session.change", 2);
      yield* Fiber.interrupt(reading);
    }).pipe(Effect.provide(world)),
  );

  it.effect.each(["0", "2", "01", " 1", "x"])(
    "starts with the current state after the event id %j",
    (lastEventId) =>
      Effect.gen(function* () {
        const { key, sid } = yield* setup;
        const { reading, names } = yield* listenTo(key, sid, lastEventId);
        assert.deepStrictEqual(names(), ["session"]);
        yield* Fiber.interrupt(reading);
      }).pipe(Effect.provide(world)),
  );

  it.effect("is null for a client that knows the final state, and sends it to any other", () =>
    Effect.gen(function* () {
      const { sessions, key, sid } = yield* setup;
      yield* complete(key, sid);
      assert.isNull(yield* Effect.scoped(sessions.stream(key, sid, "2")));
      const { reading, names } = yield* listenTo(key, sid, "1");
      yield* Fiber.join(reading);
      assert.deepStrictEqual(names(), ["completed"]);
    }).pipe(Effect.provide(world)),
  );

  it.effect("reports that the session expired", () =>
    Effect.gen(function* () {
      const { key, sid } = yield* setup;
      yield* TestClock.setTime(285_000);
      const { reading, events, names } = yield* listenTo(key, sid);
      yield* TestClock.adjust("15 seconds");
      yield* Fiber.join(reading);
      assert.deepStrictEqual(names(), ["session", "idle", "expired"]);
      assert.nestedPropertyVal(events[2], "session.state", "expired");
    }).pipe(Effect.provide(world)),
  );

  it.effect("lasts as long as the session when its limit is turned off", () =>
    Effect.gen(function* () {
      const { key, sid } = yield* setup;
      const { reading, names } = yield* listenTo(key, sid);
      yield* TestClock.adjust("5 minutes");
      yield* Fiber.join(reading);
      assert.strictEqual(names().at(-1), "expired");
    }).pipe(Effect.provide(worldWith({ streamMax: 0 }))),
  );
});
