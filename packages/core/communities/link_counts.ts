/**
 * Counts the links of scopes, and the links verified lately. Views never wait for a long count: they show the last
 * number while a new count runs.
 */
import { Clock, Effect, Fiber, Semaphore } from "effect";
import type { StoreEffect, StoreUnavailable } from "../errors.ts";
import type { Pid } from "../ids.ts";
import { type DayRange, LinkStore } from "../links/link_store.ts";
import { dayMs, type Millis, startOfDay } from "../timestamp.ts";

/** Counting up to this many links takes a millisecond, so scopes with fewer links are counted at each read. */
const few = 2_000;

/**
 * Both are in milliseconds. A count older than `renewed` is repeated when it is read. If the count is older than
 * `longest`, `recentOf` waits for a new one.
 */
const [renewed, longest] = [30_000, 60_000];

/**
 * The greatest fraction of the time that a repeated count may take: a count that took 10 seconds is repeated after 200
 * seconds at the earliest.
 */
const mostTime = 1 / 20;

const maxCounts = 10_000;

export interface LinkCount {
  readonly count: number;
  /** The age of `count` in milliseconds. Null until the first full count ends: until then, `count` is a lower bound. */
  readonly age: Millis | null;
}

/** The links of a scope last verified in the seven UTC days that end today, and in the seven days before. */
export interface VerifiedWeeks {
  readonly last: LinkCount;
  readonly before: LinkCount;
}

/** Adds up counts. The sum has the age of the oldest count. */
export const sumCounts = (counts: ReadonlyArray<LinkCount>): LinkCount => ({
  count: counts.reduce((sum, { count }) => sum + count, 0),
  age: counts.reduce<Millis | null>(
    (oldest, { age }) => (oldest === null || age === null ? null : Math.max(oldest, age)),
    0,
  ),
});

type Counted = "all" | "lastWeek" | "weekBefore";

/** The last complete count. Only scopes with at least `few` links have one. */
interface Known {
  readonly count: number;
  readonly at: Millis;
  /** How long the count took, in milliseconds. */
  readonly took: number;
}

export const makeLinkCounts = Effect.gen(function* () {
  const store = yield* LinkStore;
  const scope = yield* Effect.scope;
  const known = new Map<string, Known>();
  const oneAtATime = yield* Semaphore.make(1);
  const counting = new Map<string, Fiber.Fiber<number, StoreUnavailable>>();

  const countAll = Effect.fnUntraced(function* (key: string, pid: Pid, counted: Counted) {
    const at = yield* Clock.currentTimeMillis;
    const count = yield* store.countLinks(pid, { verified: rangeOf(counted, at) });
    if (known.size >= maxCounts) known.clear();
    known.set(key, { count, at, took: (yield* Clock.currentTimeMillis) - at });
    return count;
  });

  /** Returns the fiber that counts these links now, or starts one. */
  const counts = (key: string, pid: Pid, counted: Counted) =>
    Effect.suspend(() => {
      const running = counting.get(key);
      if (running !== undefined) return Effect.succeed(running);
      const ended = Effect.sync(() => counting.delete(key));
      const count = Effect.ensuring(oneAtATime.withPermits(1)(countAll(key, pid, counted)), ended);
      return Effect.tap(Effect.forkIn(count, scope), (fiber) => Effect.sync(() => counting.set(key, fiber)));
    });

  const of = Effect.fnUntraced(function* (
    pid: Pid,
    counted: Counted,
  ): Effect.fn.Return<LinkCount, StoreUnavailable> {
    const key = keyOf(pid, counted);
    const now = yield* Clock.currentTimeMillis;
    const count = yield* store.countLinks(pid, { verified: rangeOf(counted, now), enough: few });
    if (count !== few) return { count, age: 0 };
    const last = known.get(key);
    const age = last === undefined ? null : now - last.at;
    if (last === undefined || now - last.at >= Math.max(renewed, last.took / mostTime)) {
      yield* counts(key, pid, counted);
    }
    return { count: last?.count ?? few, age };
  });

  return {
    /** Returns the number of links. If counting takes long, returns the last known number. */
    of: (pid: Pid) => of(pid, "all"),

    /** Returns the numbers of links verified lately. If counting takes long, returns the last known numbers. */
    weeksOf: (pid: Pid): StoreEffect<VerifiedWeeks> =>
      Effect.all({ last: of(pid, "lastWeek"), before: of(pid, "weekBefore") }),

    /** Returns the number of links. If there is no count from the last minute, waits for a new count. */
    recentOf: Effect.fnUntraced(function* (pid: Pid) {
      const { count, age } = yield* of(pid, "all");
      if (age !== null && age < longest) return count;
      return yield* Fiber.join(yield* counts(keyOf(pid, "all"), pid, "all"));
    }),

    /** Adds the owner's own change to the last count, so that the owner sees the change at once. */
    add: (pid: Pid, links: number) =>
      Effect.sync(() => {
        const last = known.get(keyOf(pid, "all"));
        if (last !== undefined) known.set(keyOf(pid, "all"), { ...last, count: last.count + links });
      }),

    /** Forgets the last count, after the owner deleted the links. */
    forget: (pid: Pid) => Effect.sync(() => known.delete(keyOf(pid, "all"))),
  };
});

const rangeOf = (counted: Counted, now: Millis): DayRange | undefined => {
  if (counted === "all") return undefined;
  const before = startOfDay(now) + dayMs - (counted === "lastWeek" ? 0 : 7 * dayMs);
  return { from: before - 7 * dayMs, before };
};

const keyOf = (pid: Pid, counted: Counted): string => `${pid} ${counted}`;
