import { Cache, PlatformUnavailable, StoreUnavailable } from "@accountlink/core";
import { ChargedAccount, Urgency } from "@accountlink/core/platforms";
import { TurnAccount } from "@accountlink/core/turns";
import { expect, testWith } from "@accountlink/test-servers/effect";
import { Deferred, Duration, Effect, Fiber, Layer, Metric, Option, Schema } from "effect";
import { TestClock } from "effect/testing";
import { platformCache } from "../resilience/metrics.ts";
import { type CachedLookup, cachedLookup } from "./cached_lookup.ts";

/** A cache that keeps every entry until it expires, and whose entries tests can read. */
const mapCache = () => {
  const entries = new Map<string, { readonly value: string; readonly expiresAt: number }>();
  const get: Cache["Service"]["get"] = (key, now) =>
    Effect.sync(() => {
      const entry = entries.get(key);
      return entry !== undefined && entry.expiresAt > now ? Option.some(entry.value) : Option.none();
    });
  const cache = Cache.of({
    get,
    getMany: (keys, now) => Effect.forEach(keys, (key) => get(key, now)),
    set: (key, value, expiresAt) => Effect.sync(() => void entries.set(key, { value, expiresAt })),
  });
  return { entries, cache };
};

const test = testWith(Layer.sync(Cache, () => mapCache().cache));

const broken = Effect.fail(new StoreUnavailable({ operation: "Cache" }));
const brokenCache = Cache.of({ get: () => broken, getMany: () => broken, set: () => broken });

const down = new PlatformUnavailable({ operation: "test" });

const counted = (result: "hit" | "miss" | "error") =>
  Effect.map(Metric.value(platformCache({ answer: "test", result })), ({ count }) => count);

/** Makes a cached lookup of the length of a word. `asked` lists the words that were looked up. */
const setUp = Effect.fnUntraced(function* (overrides: Partial<CachedLookup<string, number>> = {}) {
  const asked: Array<string> = [];
  const lookup = yield* cachedLookup<string, number>({
    answer: "test",
    lookup: (word) => Effect.sync(() => asked.push(word) && word.length),
    schema: Schema.Number,
    freshFor: () => Duration.seconds(5),
    ...overrides,
  });
  return { lookup, asked };
});

test("the answers for many keys are read at once, and the others are asked for without another read", () => {
  const { cache, entries } = mapCache();
  const reads: Array<ReadonlyArray<string>> = [];
  const counting = Cache.of({
    get: (key, now) => Effect.tap(cache.get(key, now), () => Effect.sync(() => reads.push([key]))),
    getMany: (keys, now) => Effect.tap(cache.getMany(keys, now), () => Effect.sync(() => reads.push(keys))),
    set: cache.set,
  });
  return Effect.gen(function* () {
    const { lookup, asked } = yield* setUp();
    yield* lookup("own");
    entries.set("platform.test:shared", { value: "6", expiresAt: 5_000 });
    reads.length = 0;
    const { cached, ask } = yield* lookup.readCached((word: string) => word)(["shared", "own", "absent"]);
    expect([...cached]).toEqual([
      ["shared", 6],
      ["own", 3],
    ]);
    expect(yield* ask("absent")).toBe(6);
    expect(reads).toEqual([["platform.test:shared", "platform.test:absent"]]);
    expect(asked).toEqual(["own", "absent"]);
  }).pipe(Effect.provideService(Cache, counting));
});

test("an answer's age counts from its request", () => {
  const { cache, entries } = mapCache();
  return Effect.gen(function* () {
    const slow = yield* setUp({ lookup: () => Effect.delay(Effect.succeed(1), "3 seconds") });
    const tooSlow = yield* setUp({
      answer: "late",
      lookup: () => Effect.delay(Effect.succeed(1), "6 seconds"),
    });
    const fibers = yield* Effect.forEach([slow, tooSlow], ({ lookup }) =>
      Effect.forkChild(lookup("one"), { startImmediately: true }),
    );
    yield* TestClock.adjust("6 seconds");
    yield* Fiber.joinAll(fibers);
    expect([...entries]).toEqual([["platform.test:one", { value: "1", expiresAt: 5_000 }]]);
  }).pipe(Effect.provideService(Cache, cache));
});

test("concurrent misses share a request", function* () {
  let asked = 0;
  const answer = yield* Deferred.make<number>();
  const { lookup } = yield* setUp({
    lookup: () =>
      Effect.andThen(
        Effect.sync(() => asked++),
        Deferred.await(answer),
      ),
  });
  const fibers = yield* Effect.forEach(Array.from({ length: 100 }), () =>
    Effect.forkChild(lookup("one"), { startImmediately: true }),
  );
  const other = yield* Effect.forkChild(lookup("two"), { startImmediately: true });
  yield* Deferred.succeed(answer, 3);
  expect(new Set(yield* Fiber.joinAll(fibers))).toEqual(new Set([3]));
  yield* Fiber.join(other);
  expect(asked).toBe(2);
});

test("a request is shared neither with another account nor with a sweep, whose refusals are their own", function* () {
  const askers = Effect.all([TurnAccount, Urgency, Effect.map(ChargedAccount, (charged) => charged?.name)]);
  const { lookup } = yield* setUp({
    lookup: () =>
      Effect.flatMap(Effect.delay(askers, "1 second"), ([account, urgency, charged]) =>
        account === "ada" || urgency === "background" || charged === "bob" ? down : Effect.succeed(3),
      ),
  });
  const charged = { name: "bob", check: Effect.void, charge: Effect.void };
  const ofBob = Effect.provideService(Effect.option(lookup("one")), TurnAccount, "bob");
  const fibers = yield* Effect.forEach(
    [
      Effect.provideService(Effect.option(lookup("one")), TurnAccount, "ada"),
      Effect.provideService(ofBob, Urgency, "background"),
      Effect.provideService(ofBob, ChargedAccount, charged),
      ofBob,
    ],
    (asking) => Effect.forkChild(asking, { startImmediately: true }),
  );
  yield* TestClock.adjust("1 second");
  const refused = Option.none();
  expect(yield* Fiber.joinAll(fibers)).toEqual([refused, refused, refused, Option.some(3)]);
});

test("a shared lookup continues if its first caller is interrupted, and stops if all callers are", function* () {
  let stopped = 0;
  const answer = yield* Deferred.make<number>();
  const { lookup } = yield* setUp({
    lookup: () => Effect.onInterrupt(Deferred.await(answer), () => Effect.sync(() => stopped++)),
  });
  const start = (word: string) => Effect.forkChild(lookup(word), { startImmediately: true });
  const [first, second, lonely] = [yield* start("one"), yield* start("one"), yield* start("two")];
  yield* Fiber.interrupt(first);
  expect(stopped).toBe(0);
  yield* Fiber.interrupt(lonely);
  expect(stopped).toBe(1);
  yield* Deferred.succeed(answer, 3);
  expect(yield* Fiber.join(second)).toBe(3);
});

test("waiting callers share a failure, which is not cached", function* () {
  let asked = 0;
  const { lookup } = yield* setUp({
    lookup: () =>
      Effect.delay(
        Effect.suspend(() => (++asked === 1 ? down : Effect.succeed(3))),
        "1 second",
      ),
  });
  const fibers = yield* Effect.forEach([1, 2, 3], () =>
    Effect.forkChild(Effect.flip(lookup("one")), { startImmediately: true }),
  );
  yield* TestClock.adjust("1 second");
  expect(yield* Fiber.joinAll(fibers)).toEqual([down, down, down]);
  const again = yield* Effect.forkChild(lookup("one"), { startImmediately: true });
  yield* TestClock.adjust("1 second");
  expect(yield* Fiber.join(again)).toBe(3);
});

test("if the cache fails, the platform is asked, and the process keeps the platform's answer", () =>
  Effect.gen(function* () {
    const { lookup, asked } = yield* setUp();
    expect([yield* lookup("one"), yield* lookup("one")]).toEqual([3, 3]);
    expect(asked).toHaveLength(1);
    yield* TestClock.adjust("5 seconds");
    expect(yield* lookup("one")).toBe(3);
    expect(asked).toHaveLength(2);
  }).pipe(Effect.provideService(Cache, brokenCache)));

test("answers that another process requested are read from the cache", () => {
  const { cache } = mapCache();
  const read: Array<string> = [];
  const watched = Cache.of({
    ...cache,
    get: (key, now) => Effect.tap(cache.get(key, now), () => Effect.sync(() => read.push(key))),
  });
  return Effect.gen(function* () {
    const [one, other] = [yield* setUp(), yield* setUp()];
    for (const { lookup } of [one, one, other, other]) yield* lookup("one");
    expect([one.asked, other.asked]).toEqual([["one"], []]);
    expect(read).toHaveLength(3);
  }).pipe(Effect.provideService(Cache, watched));
});

test.each(["", "{", "null", '"3"', "[3]"])("the cache treats an entry of %o as a miss", (value) => {
  const { cache, entries } = mapCache();
  entries.set("platform.test:one", { value, expiresAt: 1_000 });
  return Effect.gen(function* () {
    const { lookup, asked } = yield* setUp();
    expect(yield* lookup("one")).toBe(3);
    expect(asked).toHaveLength(1);
    expect(entries.get("platform.test:one")?.value).toBe("3");
  }).pipe(Effect.provideService(Cache, cache));
});

test("the cache counts hits and misses", () =>
  Effect.gen(function* () {
    const { lookup } = yield* setUp();
    for (const word of ["one", "one", "one", "two"]) yield* lookup(word);
    expect([yield* counted("hit"), yield* counted("miss")]).toEqual([2, 2]);
  }).pipe(
    Effect.provideService(Cache, mapCache().cache),
    Effect.provideService(Metric.MetricRegistry, new Map()),
  ));
