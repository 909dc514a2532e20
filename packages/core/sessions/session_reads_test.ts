import { aheadBy, assert, testWith } from "@accountlink/test-servers/effect";
import { Effect, Fiber, Latch, Result } from "effect";
import { TestClock } from "effect/testing";
import { services } from "../test_services.ts";
import {
  countOpenReads,
  hasEnded,
  listenTo,
  open,
  servicesWith,
  servicesWithCountersAfter,
  settle,
  setup,
  start,
} from "./test_sessions.ts";

const tooSoon = { _tag: "RateLimited", bucket: "poll_interval", limit: 1 } as const;
const tooOften = { _tag: "RateLimited", bucket: "poll_count" } as const;

const test = testWith(services);

test("the interval between reads starts when a long poll or a stream begins", function* () {
  const { key, sid, poll } = yield* setup;
  for (const wait of [2_000, 10_000, 1_500]) {
    const waiting = yield* start(poll(wait));
    yield* TestClock.adjust(wait);
    yield* Fiber.join(waiting);
  }
  assert.deepInclude(yield* Effect.flip(poll()), { ...tooSoon, retryAfter: 1 });

  yield* TestClock.adjust(500);
  for (const lastEventId of [null, "0"]) {
    const { reading } = yield* listenTo(key, sid, lastEventId);
    yield* TestClock.adjust(1_999);
    yield* Fiber.interrupt(reading);
    assert.deepInclude(yield* Effect.flip(poll()), tooSoon);
    yield* TestClock.adjust(1);
  }
  yield* poll();
});

for (const back of [2_000, 3_600_000])
  test(`a long poll and a stream end in time though the clock is set back by ${back} ms meanwhile`, function* () {
    const { key, sid, poll } = yield* setup;
    let ahead = 0;
    const set = aheadBy(() => ahead);
    const waiting = yield* start(set(poll(5_000)));
    yield* TestClock.adjust(3_000);
    ahead = -back;
    yield* TestClock.adjust(2_000);
    assert.strictEqual((yield* Fiber.join(waiting)).state, "pending");
    const { reading, names } = yield* set(listenTo(key, sid));
    ahead -= back;
    for (let passed = 0; passed < 30; passed += 5) yield* TestClock.adjust(5_000);
    assert.deepEqual(names(), ["session", "idle", "idle", "timeout"]);
    yield* Fiber.join(reading);
  });

testWith(servicesWithCountersAfter(settle))("with slow counters, one of 20 reads is admitted", function* () {
  const { poll } = yield* setup;
  for (const at of [0, 2_000, 4_000]) {
    yield* TestClock.setTime(at);
    const polls = Array.from({ length: 20 }, () => Effect.result(poll()));
    const results = yield* Effect.all(polls, { concurrency: "unbounded" });
    assert.lengthOf(results.filter(Result.isSuccess), 1);
    for (const { failure } of results.filter(Result.isFailure)) assert.deepInclude(failure, tooSoon);
  }
});

testWith(servicesWithCountersAfter(Effect.sleep(5)))(
  "with slow counters, a wait as long as the interval ends after it",
  function* () {
    const { poll } = yield* setup;
    for (const wait of [2_000, 0]) {
      const reading = yield* start(poll(wait));
      while (reading.pollUnsafe() === undefined) yield* TestClock.adjust(1);
      yield* Fiber.join(reading);
    }
  },
);

test("a refused read does not extend the interval between reads", function* () {
  const { poll } = yield* setup;
  yield* poll();
  for (let refused = 0; refused < 4; refused++) {
    yield* TestClock.adjust(499);
    assert.deepInclude(yield* Effect.flip(poll()), tooSoon);
  }
  yield* TestClock.adjust(4);
  yield* poll();
});

testWith(servicesWith({ pollLimit: 0 }))("reads are unlimited when the limit is turned off", function* () {
  const { sessions, key, sid, resume } = yield* setup;
  for (let read = 0; read < 200; read++) assert.isNull((yield* resume).pollsRemaining);
  assert.isNull((yield* sessions.cancel(key, sid)).pollsRemaining);
});

testWith(servicesWith({ pollLimit: 2 }))("a refused read ends no other read", function* () {
  const { key, sid, poll } = yield* setup;
  yield* poll();
  const { reading } = yield* listenTo(key, sid, "0");
  assert.deepInclude(yield* start(Effect.flip(poll())).pipe(Effect.flatMap(Fiber.join)), tooOften);
  assert.isFalse(hasEnded(reading));
  yield* Fiber.interrupt(reading);
});

test("a read does not wait if the session changed while the read's rate limit was checked", () => {
  const [counting, counted] = [Latch.makeUnsafe(), Latch.makeUnsafe()];
  return Effect.gen(function* () {
    const { poll, sid } = yield* setup;
    const waiting = yield* Effect.forkChild(poll(25_000));
    yield* counting.await;
    yield* open(sid);
    yield* counted.open;
    assert.deepInclude(yield* Fiber.join(waiting), { state: "opened" });
  }).pipe(Effect.provide(servicesWithCountersAfter(Effect.andThen(counting.open, counted.await))));
});

test("the metric of open reads counts a read until it is interrupted, superseded or answered", function* () {
  const before = yield* countOpenReads;
  const { key, sid, poll } = yield* setup;
  const gone = yield* listenTo(key, sid);
  assert.strictEqual((yield* countOpenReads) - before, 1);
  yield* Fiber.interrupt(gone.reading);
  assert.strictEqual((yield* countOpenReads) - before, 0);

  yield* TestClock.adjust("2 seconds");
  const superseded = yield* start(poll(25_000));
  yield* TestClock.adjust("2 seconds");
  const answered = yield* start(poll(25_000));
  yield* Fiber.join(superseded);
  assert.strictEqual((yield* countOpenReads) - before, 1);
  yield* open(sid);
  yield* Fiber.join(answered);
  assert.strictEqual((yield* countOpenReads) - before, 0);
});
