import { assert, testWith } from "@accountlink/test-servers/effect";
import { Fiber } from "effect";
import { TestClock } from "effect/testing";
import { services } from "../test_services.ts";
import { hasEnded, listenTo, setup } from "./test_sessions.ts";

const test = testWith(services);

test("a stream sends idle every 10 seconds, and times out after 30", function* () {
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
});

test.each(["0", "2", "01", " 1", "x"])("a stream starts anew after the event id %j", function* (lastEventId) {
  const { key, sid } = yield* setup;
  const { reading, names } = yield* listenTo(key, sid, lastEventId);
  assert.deepStrictEqual(names(), ["session"]);
  yield* Fiber.interrupt(reading);
});

test("a stream reports the expiry of the session", function* () {
  const { key, sid } = yield* setup;
  yield* TestClock.setTime(285_000);
  const { reading, events, names } = yield* listenTo(key, sid);
  yield* TestClock.adjust("15 seconds");
  yield* Fiber.join(reading);
  assert.deepStrictEqual(names(), ["session", "idle", "expired"]);
  assert.nestedPropertyVal(events[2], "session.state", "expired");
});
