import { assert, testWith } from "@accountlink/test-servers/effect";
import { Clock, Context, Effect, Fiber, Layer, Queue } from "effect";
import { TestClock } from "effect/testing";
import { StoreUnavailable } from "../errors.ts";
import { KeyId, SessionId, type Sid } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { Signals } from "../signals.ts";
import { operator, services, stores } from "../test_services.ts";
import { SessionStore } from "./session_store.ts";
import { SessionWatch } from "./session_watch.ts";
import { countOpenReads, hasEnded, listenTo, request, sessionIdOf, setup, start } from "./test_sessions.ts";

const signalsDown = Layer.provideMerge(
  services,
  Layer.succeed(Signals, {
    publish: () => Effect.fail(new StoreUnavailable({ operation: "Signals.publish" })),
    subscribe: () => Effect.fail(new StoreUnavailable({ operation: "Signals.subscribe" })),
  }),
);

const numbered = (index: number) => SessionId.make(`vs_${String(index).padStart(43, "0")}`);

const keyId = KeyId.make("Aa0Bb1Cc2Dd3");

/** Opens a session in the store only, as another node would if its signal were lost. */
const openElsewhere = Effect.fnUntraced(function* (sid: Sid) {
  yield* (yield* SessionStore).advance({
    id: yield* sessionIdOf(sid),
    to: "opened",
    at: yield* Clock.currentTimeMillis,
  });
});

const test = testWith(services);

test.each([
  ["lost", services],
  ["down", signalsDown],
] as const)("SessionWatch polls changes within 2 seconds while signals are %s", ([, layer]) =>
  Effect.gen(function* () {
    const { poll, sid } = yield* setup;
    yield* TestClock.setTime(60_500);
    const waiting = yield* start(poll(25_000));
    yield* openElsewhere(sid);
    yield* TestClock.adjust(1_499);
    assert.isFalse(hasEnded(waiting));
    yield* TestClock.adjust(501);
    assert.deepInclude(yield* Fiber.join(waiting), { state: "opened" });
  }).pipe(Effect.provide(layer)),
);

test("a node polls only its subscribed sessions, or all sessions if over 1,000 are subscribed", function* () {
  const asked: Array<ReadonlyArray<SessionId> | null> = [];
  const recording = Layer.effect(
    SessionStore,
    Effect.map(SessionStore, (store) => ({
      ...store,
      changedSince: (...args: Parameters<typeof store.changedSince>) =>
        Effect.andThen(
          Effect.sync(() => asked.push(args[1])),
          store.changedSince(...args),
        ),
    })),
  );
  const watch = SessionWatch.layer.pipe(Layer.provide(recording.pipe(Layer.provideMerge(stores))));
  const { subscribe } = Context.get(yield* Layer.build(Layer.fresh(watch)), SessionWatch);
  const ids = Array.from({ length: 1_001 }, (_, index) => numbered(index));
  yield* TestClock.adjust("2 seconds");
  yield* Effect.forEach(ids.slice(0, 1_000), (id) => subscribe({ id, keyId }));
  yield* TestClock.adjust("2 seconds");
  yield* subscribe({ id: numbered(1_000), keyId });
  yield* TestClock.adjust("2 seconds");
  assert.deepStrictEqual(asked, [ids.slice(0, 1_000), null]);
});

test("a node finds a change that was stored 10 seconds after its timestamp", function* () {
  const { poll, sid } = yield* setup;
  yield* TestClock.setTime(60_000);
  const waiting = yield* start(poll(25_000));
  yield* (yield* SessionStore).advance({ id: yield* sessionIdOf(sid), to: "opened", at: 50_000 });
  yield* TestClock.adjust("2 seconds");
  assert.deepInclude(yield* Fiber.join(waiting), { state: "opened" });
});

test("another node's signal wakes reads of a changed session, or ends reads with lower numbers", function* () {
  const { sessions, key, sid, poll } = yield* setup;
  const { publish } = yield* Signals;
  const { sid: second } = yield* sessions.create(key, request);
  const first = yield* start(poll(25_000));
  const other = yield* listenTo(key, second);
  yield* openElsewhere(second);
  const send = (signal: object) => publish("sessions", JSON.stringify(signal));
  yield* send({ changed: [numbered(1), yield* sessionIdOf(second)] });
  yield* start(Effect.void);
  assert.deepStrictEqual(other.names(), ["session", "session"]);
  yield* send({ begun: { id: yield* sessionIdOf(sid), number: 2 } });
  assert.deepInclude(yield* Fiber.join(first), { state: "pending" });
  yield* send({ begun: { id: yield* sessionIdOf(second), number: 1 } });
  yield* start(Effect.void);
  assert.isFalse(hasEnded(other.reading));
  yield* Fiber.interrupt(other.reading);
});

test("a numbered read ends if a read with a higher number is open, but a read without a number continues", function* () {
  const { subscribe, open: openRead, announce } = yield* SessionWatch;
  const id = numbered(1);
  const [earlier, later, observer] = [
    yield* subscribe({ id, keyId }),
    yield* subscribe({ id, keyId }),
    yield* subscribe({ id, keyId }),
  ];
  yield* openRead(observer, null);
  yield* openRead(later, 2);
  yield* openRead(earlier, 1);
  yield* announce([id]);
  assert.deepStrictEqual(
    [yield* earlier.next, yield* later.next, yield* observer.next],
    ["end", "changed", "changed"],
  );
});

test("`announce` reports 250 changed sessions to other nodes in 3 messages", function* () {
  const { announce } = yield* SessionWatch;
  const { subscribe } = yield* Signals;
  const messages = yield* subscribe("sessions");
  const ids = Array.from({ length: 250 }, (_, index) => numbered(index));
  yield* announce(ids);
  yield* announce([]);
  const sent: Array<string> = [];
  while ((yield* Queue.size(messages)) > 0) sent.push(yield* Queue.take(messages));
  assert.strictEqual(sent.length, 3);
  assert.deepStrictEqual(
    sent.flatMap((message) => JSON.parse(message).changed),
    ids,
  );
});

test.each(["disabled", "revoked"] as const)("reads of a %s key end within a second", function* (status) {
  const { sessions, key, poll } = yield* setup;
  const keys = yield* KeyStore;
  const { sid: second } = yield* sessions.create(key, request);
  const { sessions: othersSessions, key: otherKey, sid: others } = yield* setup;
  const waiting = yield* start(poll(25_000));
  const stream = yield* listenTo(key, second);
  const other = yield* start(othersSessions.poll(otherKey, others, 25_000));
  yield* TestClock.adjust("5 seconds");
  assert.isFalse(hasEnded(waiting) || hasEnded(stream.reading));
  // Another process changes the key, without a signal.
  yield* keys.updateKey({ ...operator, id: key.id, update: { status }, at: 5_000 });
  yield* TestClock.adjust("900 millis");
  assert.deepInclude(yield* Fiber.join(waiting), { state: "pending" });
  yield* Fiber.join(stream.reading);
  assert.deepStrictEqual(stream.names(), ["session", "timeout"]);
  assert.isFalse(hasEnded(other));
  yield* Fiber.interrupt(other);
});

test("stopping the watch ends all open reads, and ends later reads at once", function* () {
  const before = yield* countOpenReads;
  const { sessions, key, sid, poll } = yield* setup;
  const { sid: second } = yield* sessions.create(key, request);
  const waiting = yield* start(poll(25_000));
  const stream = yield* listenTo(key, second);
  yield* Effect.asVoid((yield* SessionWatch).stop);
  assert.deepInclude(yield* Fiber.join(waiting), { state: "pending" });
  yield* Fiber.join(stream.reading);
  assert.deepStrictEqual(stream.names(), ["session", "timeout"]);

  const late = yield* listenTo(key, sid, "0");
  yield* Fiber.join(late.reading);
  assert.deepStrictEqual(late.names(), ["session", "timeout"]);
  assert.strictEqual((yield* countOpenReads) - before, 0);
});
