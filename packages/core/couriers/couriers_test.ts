import { expect, it, testWith } from "@accountlink/test-servers/effect";
import { Clock, Effect, Exit, Fiber, Metric, Scope } from "effect";
import { TestClock } from "effect/testing";
import { EventStore } from "../events/event_store.ts";
import type { Pid } from "../ids.ts";
import { LinkEvents } from "../links/link_events.ts";
import { leaseShare } from "../records/records.ts";
import { Signals } from "../signals.ts";
import { chatId, gameId, scopes, services } from "../test_services.ts";
import { makeCouriers, makeNode, readGreatest, retryDelay } from "./couriers.ts";

it("the delay before the next attempt grows with the wait, in whole milliseconds, which stores keep", () => {
  expect([0, 50_001, 123_456, 90_000_000].map(retryDelay)).toEqual([5_000, 5_001, 12_346, 600_000]);
});

testWith(services)("a node stops when its lease may end, since stores renew leases late", function* () {
  const node = makeNode();
  let leased = 0;
  yield* makeCouriers({
    topic: "webhooks",
    items: "webhooks",
    problem: "Cannot send webhooks",
    node,
    hold: ({ at, until }) => {
      leased = leaseShare * (until - at);
      return Effect.succeed([]);
    },
    idOf: () => "",
    make: (courier) => courier,
    run: () => Effect.void,
    isDue: () => false,
  });
  yield* TestClock.adjust("1 second");
  expect(node.livesUntil - (yield* Clock.currentTimeMillis)).toBe(leased);
});

testWith(services)("a node takes twice as many items at each look, up to a limit", function* () {
  const { guild: scope } = yield* scopes;
  const items = Array.from({ length: 1_000 }, (_, id) => ({ id: String(id), scope, position: 0 }));
  const held: Array<number> = [];
  const { all } = yield* makeCouriers({
    topic: "webhooks",
    items: "webhooks",
    problem: "Cannot send webhooks",
    node: makeNode(),
    hold: ({ limit }) => {
      held.push(Math.min(items.length, (held.at(-1) ?? 0) + limit));
      return Effect.succeed(items.slice(0, held.at(-1)));
    },
    idOf: ({ id }) => id,
    make: (courier) => courier,
    run: () => Effect.void,
    isDue: () => false,
  });
  yield* TestClock.adjust("6 seconds");
  expect(held.slice(0, 7)).toEqual([50, 100, 200, 400, 800, 1_000, 1_000]);
  expect(all.size).toBe(1_000);
});

testWith(services)(
  "a node reads 10,000 items and their places every few seconds, and of a changed link the scope alone",
  function* () {
    const store = yield* EventStore;
    const { guild: scope } = yield* scopes;
    const pidOf = (id: number) => `${scope.pid}${id}` as Pid;
    const items = Array.from({ length: 10_000 }, (_, id) => ({
      id: String(id),
      scope: { ...scope, pid: pidOf(id) },
      position: 0,
    }));
    const held: Array<boolean> = [];
    const asked: Array<number> = [];
    const newer: typeof store.newer = (places) => {
      asked.push(places.length);
      return Effect.succeed([]);
    };
    const couriers = makeCouriers({
      topic: "webhooks",
      items: "webhooks",
      problem: "Cannot send webhooks",
      node: makeNode(),
      hold: ({ known }) => {
        held.push(known === undefined);
        return Effect.succeed((known as typeof items) ?? items);
      },
      idOf: ({ id }) => id,
      make: (courier) => courier,
      run: (courier) =>
        Effect.sync(() => {
          courier.hasNews = false;
        }),
      isDue: () => false,
    });
    yield* Effect.provideService(couriers, EventStore, { ...store, newer });
    // The couriers start in steps.
    for (let turns = 0; turns < 1_000; turns++) yield* Effect.yieldNow;
    for (let second = 0; second < 30; second++) yield* TestClock.adjust("1 second");
    expect(held.length).toBeGreaterThanOrEqual(30);
    expect(held.filter(Boolean).length).toBeLessThanOrEqual(11);
    expect(asked.length).toBeLessThanOrEqual(11);
    const change = { scope: { ...scope, pid: pidOf(7) }, chatId: chatId("10001"), previousGameId: null };
    yield* LinkEvents.use(({ announce }) => announce("linkChanged", { ...change, gameId: gameId("1") }));
    yield* TestClock.adjust(600);
    expect(asked).toContain(1);
  },
);

testWith(services)("a node exports the greatest age of any number of couriers", function* () {
  const oldest = Metric.gauge("oldest_of_many");
  const all = new Map(Array.from({ length: 200_000 }, (_, age) => [String(age), age]));
  yield* readGreatest(oldest, { all }, (age) => age);
  expect(yield* Metric.value(oldest)).toEqual({ value: 199.999 });
});

testWith(services)("a node gives up what is in flight 10 seconds after its stop", function* () {
  const { guild: scope } = yield* scopes;
  const closing = yield* Scope.make();
  const { stop } = yield* makeCouriers({
    topic: "webhooks",
    items: "webhooks",
    problem: "Cannot send webhooks",
    node: makeNode(),
    hold: ({ limit }) => Effect.succeed(limit === 0 ? [] : [{ id: "1", scope, position: 0 }]),
    idOf: ({ id }) => id,
    make: (courier) => courier,
    run: () => Effect.never,
    isDue: () => false,
  }).pipe(Scope.provide(closing));
  yield* TestClock.adjust("1 second");
  yield* stop;
  // The server finishes requests first.
  yield* TestClock.adjust("6 seconds");
  const closed = yield* Effect.forkChild(Scope.close(closing, Exit.void));
  yield* TestClock.adjust("4 seconds");
  const ended = closed.pollUnsafe();
  yield* TestClock.adjust("1 minute");
  yield* Fiber.join(closed);
  expect(ended).toBeDefined();
});

testWith(services)(
  "a node whose looks take long rests between them, however many signals come",
  function* () {
    let looks = 0;
    yield* makeCouriers({
      topic: "guild_logs",
      items: "logs",
      problem: "Cannot post messages",
      node: makeNode(),
      hold: () => {
        looks++;
        return Effect.delay(Effect.succeed([]), 100);
      },
      idOf: () => "",
      make: (courier) => courier,
      run: () => Effect.void,
      isDue: () => false,
    });
    const signal = Signals.use(({ publish }) => publish("guild_logs", ""));
    for (let sent = 0; sent < 300; sent++) {
      yield* signal;
      yield* TestClock.adjust(20);
    }
    expect(looks).toBeGreaterThan(5);
    expect(looks).toBeLessThan(15);
  },
);

testWith(services)(
  "hundreds of couriers start in steps, between which others have their turns",
  function* () {
    const { guild: scope } = yield* scopes;
    const items = Array.from({ length: 300 }, (_, id) => ({ id: String(id), scope, position: 0 }));
    let [inTurn, most, started] = [0, 0, 0];
    const turn = Effect.sync(() => {
      most = Math.max(most, inTurn);
      inTurn = 0;
    });
    yield* Effect.forkChild(Effect.forever(Effect.andThen(Effect.yieldNow, turn)));
    yield* makeCouriers({
      topic: "webhooks",
      items: "webhooks",
      problem: "Cannot send webhooks",
      node: makeNode(),
      hold: () => Effect.succeed(items),
      idOf: ({ id }) => id,
      make: (courier) => courier,
      run: (courier) =>
        Effect.sync(() => {
          courier.hasNews = false;
          inTurn++;
          started++;
        }),
      isDue: () => false,
    });
    for (let turns = 0; turns < 50; turns++) yield* Effect.yieldNow;
    expect(started).toBe(300);
    expect(most).toBeLessThanOrEqual(100);
  },
);
