import { expect, test } from "@accountlink/test-servers/effect";
import { Deferred, Effect, Fiber, Metric } from "effect";
import { TestClock } from "effect/testing";
import { type Asker, TurnRefused, Turns, type TurnsOptions } from "./turns.ts";

/** A resource whose steps run until the test ends them. `started` lists the steps that have a place, in order. */
const setUp = (options: Partial<TurnsOptions> = {}) => {
  const turns = new Turns({ resource: "previews", places: 1, ...options });
  const started: Array<string> = [];
  const begin = (from: string | Asker, name = typeof from === "string" ? from : from.account) =>
    Effect.gen(function* () {
      const end = yield* Deferred.make<void>();
      const body = Effect.andThen(
        Effect.sync(() => started.push(name)),
        Deferred.await(end),
      );
      const fiber = yield* Effect.forkChild(turns.step(from, body), { startImmediately: true });
      return {
        fiber,
        end: Effect.andThen(Deferred.succeed(end, undefined), Fiber.join(fiber)),
        stop: Fiber.interrupt(fiber),
      };
    });
  return { turns, started, begin };
};

const isSync = <A>(effect: Effect.Effect<A>): A => Effect.runSync(effect);

test("a step of an account that is alone runs at once, in the fiber of its caller", function* () {
  yield* Effect.void;
  const { turns } = setUp();
  expect(isSync(turns.step("ada", Effect.succeed(1)))).toBe(1);
  expect(isSync(Effect.orDie(turns.stepWithin("ada", 1_000, Effect.succeed(2))))).toBe(2);
  expect(turns.isIdle).toBe(true);
});

/** Begins steps in this order, ends each once it runs, and returns the order in which they started. */
const orderOf = Effect.fnUntraced(function* (
  all: ReadonlyArray<readonly [name: string, from: string | Asker]>,
) {
  const { started, begin } = setUp();
  const steps = new Map<string, Effect.Success<ReturnType<typeof begin>>>();
  for (const [name, from] of all) steps.set(name, yield* begin(from, name));
  for (let ended = 0; ended < all.length; ended++) {
    yield* steps.get(started[ended] ?? "")?.end ?? Effect.die("No step runs");
    yield* Effect.yieldNow;
  }
  return started;
});

test("each free place goes to the next account that waits, however many steps the others have", function* () {
  const ada = ["a1", "a2", "a3", "a4"].map((name) => [name, "ada"] as const);
  const bob = ["b1", "b2"].map((name) => [name, "bob"] as const);
  const order = yield* orderOf([...ada, ...bob, ["c1", "cleo"]]);
  expect(order).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
});

test("an account without a place waits for one other step, however many accounts want more", function* () {
  const { started, begin } = setUp();
  const crowd = ["ada", "bob", "cleo", "dan"];
  const steps: Array<Effect.Success<ReturnType<typeof begin>>> = [];
  for (const name of [...crowd, ...crowd, ...crowd]) steps.push(yield* begin(name));
  const end = Effect.fnUntraced(function* () {
    yield* steps.find(({ fiber }) => fiber.pollUnsafe() === undefined)?.end ?? Effect.die("No step runs");
    yield* Effect.yieldNow;
  });
  yield* end();
  yield* end();
  const before = started.length;
  yield* begin("eve");
  yield* end();
  yield* end();
  expect(started.slice(before)).toContain("eve");
});

test("within an account, its people take turns, and an owner comes first", function* () {
  const by = (person: string) => ({ account: "club", person, isFirst: person === "owner" });
  const names = ["m1", "m2", "m3", "k1", "o1", "o2"];
  const people: Readonly<Record<string, string>> = { m: "moderator", k: "key", o: "owner" };
  const order = yield* orderOf(names.map((name) => [name, by(people[name[0] ?? ""] ?? "")] as const));
  expect(order).toEqual(["m1", "o1", "o2", "m2", "k1", "m3"]);
});

test("an account uses places that nobody else wants, and leaves the reserve free for others", function* () {
  const { started, begin } = setUp({ places: 8, share: 2 });
  for (let step = 0; step < 10; step++) yield* begin("ada");
  expect(started).toHaveLength(6);
  yield* begin("bob");
  yield* begin("cleo");
  expect(started.slice(6)).toEqual(["bob", "cleo"]);
});

test("an account over its share gets no place while another account waits with less than its own", function* () {
  const { started, begin } = setUp({ places: 3, share: 1 });
  const first = yield* Effect.forEach([1, 2, 3], () => begin("ada"));
  for (let step = 0; step < 4; step++) yield* begin("ada");
  yield* begin("bob");
  yield* begin("cleo");
  yield* first[0]?.end ?? Effect.void;
  yield* first[1]?.end ?? Effect.void;
  yield* Effect.yieldNow;
  expect(started.slice(3)).toEqual(["bob", "cleo"]);
});

test("an account has at most its most places, although others are free", function* () {
  const { started, begin } = setUp({ places: Number.POSITIVE_INFINITY, share: 2 });
  const [first] = yield* Effect.forEach([1, 2, 3], () => begin("ada"));
  yield* begin("bob");
  expect(started).toEqual(["ada", "ada", "bob"]);
  yield* first?.end ?? Effect.void;
  yield* Effect.yieldNow;
  expect(started).toHaveLength(4);
});

test("a place that is taken until a scope closes is free after that", function* () {
  const { turns, started, begin } = setUp();
  yield* Effect.scoped(
    Effect.gen(function* () {
      yield* turns.take("ada");
      yield* begin("bob");
      expect(started).toEqual([]);
    }),
  );
  yield* Effect.yieldNow;
  expect(started).toEqual(["bob"]);
});

test.each(["fails", "dies", "is interrupted"])("a step that %s gives its place back", function* (ending) {
  const { turns, started, begin } = setUp();
  const step = {
    fails: Effect.fail("no"),
    dies: Effect.die("no"),
    "is interrupted": Effect.interrupt,
  }[ending] as Effect.Effect<never>;
  yield* Effect.exit(turns.step("ada", step));
  expect(turns.isIdle).toBe(true);
  yield* begin("ada");
  expect(started).toEqual(["ada"]);
});

test("a place that rests is free after as long as its step took, and the answer does not wait for it", function* () {
  const { turns, started, begin } = setUp({ longestRest: 20 });
  const slow = yield* begin("ada", "slow");
  yield* begin("bob");
  yield* TestClock.adjust(500);
  yield* slow.end;
  yield* TestClock.adjust(19);
  expect(started).toEqual(["slow"]);
  yield* TestClock.adjust(1);
  expect(started).toEqual(["slow", "bob"]);
  expect(turns.waiting).toBe(0);
});

test("a step that is interrupted while it waits keeps no place", function* () {
  const { turns, started, begin } = setUp();
  const first = yield* begin("ada");
  const second = yield* begin("bob");
  yield* begin("cleo");
  yield* second.stop;
  yield* first.end;
  yield* Effect.yieldNow;
  expect(started).toEqual(["ada", "cleo"]);
  expect(turns.isIdle).toBe(false);
});

test("a step that is interrupted as it gets its place gives the place to the next one", function* () {
  const { started, begin } = setUp();
  const first = yield* begin("ada");
  const second = yield* begin("bob");
  yield* begin("cleo");
  second.fiber.interruptUnsafe();
  yield* first.end;
  yield* Effect.yieldNow;
  yield* Effect.yieldNow;
  expect(started).toEqual(["ada", "cleo"]);
});

test("steps of one account beyond the most that may wait are refused, and no step of others", function* () {
  const { turns, started, begin } = setUp({ mostWaiting: 2 });
  yield* begin("ada");
  const wait = (account: string) =>
    Effect.forkChild(turns.stepWithin(account, 1_000, Effect.void), { startImmediately: true });
  yield* wait("ada");
  yield* wait("ada");
  expect(yield* Effect.flip(turns.stepWithin("ada", 1_000, Effect.void))).toBeInstanceOf(TurnRefused);
  const other = yield* wait("bob");
  expect(other.pollUnsafe()).toBeUndefined();
  expect(started).toEqual(["ada"]);
});

test("a step that waits for longer than it may is refused, and leaves its place in the round", function* () {
  const { turns, started, begin } = setUp();
  const first = yield* begin("ada");
  const late = yield* Effect.forkChild(Effect.flip(turns.stepWithin("bob", 1_000, Effect.void)), {
    startImmediately: true,
  });
  yield* begin("cleo");
  yield* TestClock.adjust(1_000);
  expect(yield* Fiber.join(late)).toBeInstanceOf(TurnRefused);
  yield* first.end;
  yield* Effect.yieldNow;
  expect(started).toEqual(["ada", "cleo"]);
});

test("the metric has how long steps waited, by resource, without those that ran at once", () =>
  Effect.gen(function* () {
    const { begin } = setUp();
    const first = yield* begin("ada");
    yield* begin("bob");
    yield* TestClock.adjust(40);
    yield* first.end;
    yield* Effect.yieldNow;
    const metrics = yield* Metric.snapshot;
    expect(metrics).toMatchObject([
      {
        id: "accountlink_turn_wait_seconds",
        attributes: { resource: "previews" },
        state: { count: 1, sum: 0.04 },
      },
    ]);
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())));
