/**
 * Counts the links of scopes, the links verified lately, and how links were confirmed. Views never wait for a long
 * count: they show the last number while a new count runs.
 */
import { Clock, Effect, Fiber } from "effect";
import type { StoreEffect, StoreUnavailable } from "../errors.ts";
import type { Pid } from "../ids.ts";
import { type DayRange, type LinkProof, LinkStore } from "../links/mod.ts";
import { dayMs, type Millis, startOfDay } from "../timestamp.ts";
import { TurnAccount, Turns } from "../turns/mod.ts";

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

/** How many links of a scope were confirmed in each way. */
export interface LinkWays {
  readonly ways: ReadonlyMap<LinkProof, number>;
  /** The same of the links confirmed in the seven UTC days that end today. */
  readonly lastWeek: ReadonlyMap<LinkProof, number>;
  /** The age of the counts in milliseconds. */
  readonly age: Millis;
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
interface Known<A> {
  readonly count: A;
  readonly at: Millis;
  /** How long the count took, in milliseconds. */
  readonly took: number;
}

export const makeLinkCounts = Effect.gen(function* () {
  const store = yield* LinkStore;
  const scope = yield* Effect.scope;
  const turns = new Turns({ resource: "link_counts", places: 1 });

  /** Keeps the last complete counts of one kind, and renews them in the background. */
  const makeRenewed = <A>() => {
    const known = new Map<string, Known<A>>();
    const counting = new Map<string, Fiber.Fiber<A, StoreUnavailable>>();

    const countAll = Effect.fnUntraced(function* (key: string, counted: StoreEffect<A>) {
      const at = yield* Clock.currentTimeMillis;
      const count = yield* counted;
      if (known.size >= maxCounts) known.clear();
      known.set(key, { count, at, took: (yield* Clock.currentTimeMillis) - at });
      return count;
    });

    /** Returns the fiber that counts now, or starts one. */
    const counts = (key: string, counted: StoreEffect<A>) =>
      Effect.suspend(() => {
        const running = counting.get(key);
        if (running !== undefined) return Effect.succeed(running);
        const ended = Effect.sync(() => counting.delete(key));
        const inTurn = Effect.flatMap(TurnAccount, (account) => turns.step(account, countAll(key, counted)));
        const count = Effect.ensuring(inTurn, ended);
        return Effect.tap(Effect.forkIn(count, scope), (fiber) =>
          Effect.sync(() => counting.set(key, fiber)),
        );
      });

    /** Returns the last count and its age, if there is one, and starts another if it is old. */
    const last = Effect.fnUntraced(function* (key: string, counted: StoreEffect<A>) {
      const now = yield* Clock.currentTimeMillis;
      const found = known.get(key);
      if (found === undefined || now - found.at >= Math.max(renewed, found.took / mostTime)) {
        yield* counts(key, counted);
      }
      return found && { count: found.count, age: now - found.at };
    });

    return { known, counts, last };
  };

  const { known, counts, last } = makeRenewed<number>();
  const ways = makeRenewed<Pick<LinkWays, "ways" | "lastWeek">>();

  const countAll = (pid: Pid, counted: Counted) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      store.countLinks(pid, { verified: rangeOf(counted, now) }),
    );

  const countWays = Effect.fnUntraced(function* (pid: Pid) {
    const now = yield* Clock.currentTimeMillis;
    const counted = yield* store.countWays(pid, weekOf("lastWeek", now).from);
    return {
      ways: new Map(counted.map(({ proof, links }) => [proof, links])),
      lastWeek: new Map(counted.map(({ proof, recent }) => [proof, recent])),
    };
  });

  const of = Effect.fnUntraced(function* (
    pid: Pid,
    counted: Counted,
  ): Effect.fn.Return<LinkCount, StoreUnavailable> {
    const now = yield* Clock.currentTimeMillis;
    const count = yield* store.countLinks(pid, { verified: rangeOf(counted, now), enough: few });
    if (count !== few) return { count, age: 0 };
    return (yield* last(keyOf(pid, counted), countAll(pid, counted))) ?? { count: few, age: null };
  });

  return {
    /** Returns the number of links. If counting takes long, returns the last known number. */
    of: (pid: Pid) => of(pid, "all"),

    /** Returns the numbers of links verified lately. If counting takes long, returns the last known numbers. */
    weeksOf: (pid: Pid): StoreEffect<VerifiedWeeks> =>
      Effect.all({ last: of(pid, "lastWeek"), before: of(pid, "weekBefore") }),

    /** Counts how links were confirmed. If counting takes long, returns the last known counts; null if there are none. */
    waysOf: Effect.fnUntraced(function* (pid: Pid): Effect.fn.Return<LinkWays | null, StoreUnavailable> {
      const some = yield* store.countLinks(pid, { enough: few });
      // Not every store stops counting at `few`.
      if (some < few) return { ...(yield* countWays(pid)), age: 0 };
      const found = yield* ways.last(pid, countWays(pid));
      return found === undefined ? null : { ...found.count, age: found.age };
    }),

    /** Returns the number of links. If there is no count from the last minute, waits for a new count. */
    recentOf: Effect.fnUntraced(function* (pid: Pid) {
      const { count, age } = yield* of(pid, "all");
      if (age !== null && age < longest) return count;
      return yield* Fiber.join(yield* counts(keyOf(pid, "all"), countAll(pid, "all")));
    }),

    /** Adds the owner's own change to the last count, so that the owner sees the change at once. */
    add: (pid: Pid, links: number) =>
      Effect.sync(() => {
        const found = known.get(keyOf(pid, "all"));
        if (found !== undefined) known.set(keyOf(pid, "all"), { ...found, count: found.count + links });
      }),

    /** Forgets the last count, after the owner deleted the links. */
    forget: (pid: Pid) =>
      Effect.sync(() => {
        known.delete(keyOf(pid, "all"));
        ways.known.delete(pid);
      }),
  };
});

const rangeOf = (counted: Counted, now: Millis): DayRange | undefined =>
  counted === "all" ? undefined : weekOf(counted, now);

const weekOf = (counted: Exclude<Counted, "all">, now: Millis): DayRange => {
  const before = startOfDay(now) + dayMs - (counted === "lastWeek" ? 0 : 7 * dayMs);
  return { from: before - 7 * dayMs, before };
};

const keyOf = (pid: Pid, counted: Counted): string => `${pid} ${counted}`;
