import { expect, test } from "@accountlink/test-servers/effect";
import { Effect, Fiber, Layer, Queue } from "effect";
import { TestClock } from "effect/testing";
import type { Pid } from "../ids.ts";
import { LinkStore } from "../links/link_store.ts";
import { dayMs } from "../timestamp.ts";
import { makeLinkCounts } from "./link_counts.ts";

const pid = "pid" as Pid;

/** Counts of a mocked store, whose counts without a limit wait until the test puts a number into `whole`. */
const bench = Effect.gen(function* () {
  const store = {
    /** The number that the store returns for counts with a limit. */
    soon: 2_000,
    whole: yield* Queue.unbounded<number>(),
    /** How many full counts have started. */
    begun: 0,
  };
  const countLinks = (_: Pid, { enough }: { readonly enough?: number } = {}) =>
    Effect.suspend(() => {
      if (enough !== undefined) return Effect.succeed(store.soon);
      store.begun++;
      return Queue.take(store.whole);
    });
  const counts = yield* Effect.provide(makeLinkCounts, Layer.mock(LinkStore)({ countLinks }));
  return { counts, store };
});

test("the count of a small number of links is always exact", function* () {
  const { counts, store } = yield* bench;
  store.soon = 1_999;
  expect(yield* counts.of(pid)).toEqual({ count: 1_999, age: 0 });
  store.soon = 0;
  expect(yield* counts.of(pid)).toEqual({ count: 0, age: 0 });
  expect(yield* counts.recentOf(pid)).toBe(0);
  expect(store.begun).toBe(0);
});

test("the count of many links is a lower bound until a full count ends, and concurrent views share this count", function* () {
  const { counts, store } = yield* bench;
  const atLeast = { count: 2_000, age: null };
  expect(yield* Effect.all([counts.of(pid), counts.of(pid)])).toEqual([atLeast, atLeast]);
  const waiting = yield* Effect.forkChild(counts.recentOf(pid));
  yield* Queue.offer(store.whole, 5_000);
  expect(yield* Fiber.join(waiting)).toBe(5_000);
  yield* TestClock.adjust("29 seconds");
  expect(yield* counts.of(pid)).toEqual({ count: 5_000, age: 29_000 });
  expect(store.begun).toBe(1);

  yield* TestClock.adjust("1 hour");
  expect(yield* counts.of(pid)).toEqual({ count: 5_000, age: 3_629_000 });
  yield* Queue.offer(store.whole, 6_000);
  expect(yield* counts.recentOf(pid)).toBe(6_000);
  expect(yield* counts.of(pid)).toEqual({ count: 6_000, age: 0 });
  expect(store.begun).toBe(2);
});

test("links are counted less often if counting takes long", function* () {
  const { counts, store } = yield* bench;
  const waiting = yield* Effect.forkChild(counts.recentOf(pid));
  yield* TestClock.adjust("15 seconds");
  yield* Queue.offer(store.whole, 5_000);
  yield* Fiber.join(waiting);
  yield* TestClock.adjust("4 minutes");
  expect(yield* counts.of(pid)).toEqual({ count: 5_000, age: 255_000 });
  expect(store.begun).toBe(1);
  yield* TestClock.adjust("1 minute");
  yield* counts.of(pid);
  yield* Queue.offer(store.whole, 6_000);
  expect(yield* counts.recentOf(pid)).toBe(6_000);
});

test("the owner's own changes adjust the count of links before the next full count", function* () {
  const { counts, store } = yield* bench;
  yield* counts.add(pid, 1);
  yield* Queue.offer(store.whole, 5_000);
  expect(yield* counts.recentOf(pid)).toBe(5_000);
  yield* counts.add(pid, -1);
  yield* counts.add(pid, -1);
  expect(yield* counts.of(pid)).toEqual({ count: 4_998, age: 0 });
});

test("links of the last week and of the week before are counted one after the other", function* () {
  const { counts, store } = yield* bench;
  const atLeast = { count: 2_000, age: null };
  expect(yield* counts.weeksOf(pid)).toEqual({ last: atLeast, before: atLeast });
  yield* Effect.repeat(Effect.yieldNow, { times: 100 });
  expect(store.begun).toBe(1);
  yield* Queue.offerAll(store.whole, [5_000, 4_000]);
  yield* Effect.repeat(counts.weeksOf(pid), {
    until: ({ last, before }) => last.age !== null && before.age !== null,
  });
  expect(yield* counts.weeksOf(pid)).toEqual({
    last: { count: 5_000, age: 0 },
    before: { count: 4_000, age: 0 },
  });
});

test("links are counted by the way in which they were confirmed, of many in the background", function* () {
  let size = 3;
  const gate = yield* Queue.unbounded<void>();
  // As stores do that never stop counting.
  const countLinks = () => Effect.succeed(size);
  const countWays = (_: Pid, since: number) =>
    Effect.gen(function* () {
      expect(since).toBe(-6 * dayMs);
      if (size > 2_000) yield* Queue.take(gate);
      return [{ proof: "words", links: size, recent: 1 }] as const;
    });
  const counts = yield* Effect.provide(makeLinkCounts, Layer.mock(LinkStore)({ countLinks, countWays }));
  const lastWeek = new Map([["words", 1]]);
  expect(yield* counts.waysOf(pid)).toEqual({ ways: new Map([["words", 3]]), lastWeek, age: 0 });
  size = 4_002;
  expect(yield* counts.waysOf(pid)).toBe(null);
  yield* Queue.offer(gate, undefined);
  yield* TestClock.adjust("1 second");
  expect(yield* counts.waysOf(pid)).toEqual({ ways: new Map([["words", 4_002]]), lastWeek, age: 1_000 });
});
