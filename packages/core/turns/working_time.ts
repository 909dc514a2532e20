/** Paces accounts that work for longer than their share of the process while others are there. */
import { Clock, Context, Effect, type Fiber } from "effect";
import { monotonicMillisOf } from "../monotonic_millis.ts";
import type { Millis } from "../timestamp.ts";
import { bounds } from "./bounds.ts";

/**
 * Returns how long this process has worked, in milliseconds; only differences are meaningful. A runtime that does not tell
 * it counts as always at work. @internal
 */
export const BusyTime = Context.Reference<(now: number) => number>("@accountlink/core/BusyTime", {
  defaultValue: () => {
    const { performance } = globalThis as {
      performance?: { eventLoopUtilization?: () => { readonly active: number } };
    };
    return (now) => performance?.eventLoopUtilization?.().active ?? now;
  },
});

/** The time, and the `BusyTime` or the part of it for an account. */
type Moment = readonly [now: number, busy: number];

/** Reads both without an effect for each: that took a third of the time of a reverse lookup. */
const momentOf = (fiber: Fiber.Fiber<unknown, unknown>): Moment => {
  const now = monotonicMillisOf(fiber.getRef(Clock.Clock));
  return [now, fiber.getRef(BusyTime)(now)];
};

/** The work of an account, or of all. */
class Work {
  /** How many steps run, which do not wait. */
  running = 0;
  at: number;
  /** The time of the process until which the work is counted. */
  counted: number;
  /** How long the steps that run will work, in milliseconds, as far as the last ones tell. */
  expected = 0;
  /** How much was worked beyond the share at the time `at`, in milliseconds. */
  #ahead = 0;
  /** How long the last steps worked on average, and what was worked since one ended. */
  #typical = 0;
  #sinceEnd = 0;

  constructor([now, busy]: Moment) {
    this.at = now;
    this.counted = busy;
  }

  /** Changes how many steps run. Returns by how much that changes the expected work. */
  change(steps: number, isEnd: boolean): number {
    if (isEnd) {
      this.#typical += (this.#sinceEnd - this.#typical) / (this.#typical === 0 ? 1 : 4);
      this.#sinceEnd = 0;
    }
    this.running += steps;
    const before = this.expected;
    this.expected = this.running * this.#typical;
    return this.expected - before;
  }

  /**
   * Counts the work until now. Returns how long to rest, in milliseconds, if the work has one of so many equal shares.
   * Before a step begins, the expected work counts too: four pages of 80 ms each began before any of them was counted.
   */
  count([now, busy]: Moment, shares: number, isBegun: boolean): number {
    const past = now - this.at;
    const most = this.running > 0 ? past : Math.min(past, bounds.workAroundStep);
    const [share, allowed] = [bounds.workingPart / shares, bounds.workedAtOnce / shares];
    const worked = Math.min(most, Math.max(0, busy - this.counted));
    // After a long step the rest is no longer than after many short ones.
    this.#ahead = Math.min(Math.max(0, this.#ahead - past * share) + worked, 2 * allowed);
    this.#sinceEnd += worked;
    this.at = now;
    this.counted = busy;
    const over = this.#ahead - allowed;
    return !isBegun && over <= 0 && over + this.expected > 0
      ? Math.min(this.expected, allowed)
      : over / share;
  }
}

/** A step whose work is counted. */
interface CountedStep {
  /** The fiber that runs the step. Others, which work beside it or beyond its end, are counted as the step is. */
  readonly fiber: number;
  /** Runs a part of the step that counts nothing. */
  readonly wait: <A, E, R>(part: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>;
}

const CurrentStep = Context.Reference<CountedStep | null>("@accountlink/core/CurrentStep", {
  defaultValue: () => null,
});

/**
 * Runs a part of a step that only waits, for example for a platform or for work in the background: others work meanwhile.
 *
 * @internal
 */
export const uncounted = <A, E, R>(wait: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const step = fiber.getRef(CurrentStep);
    return step?.fiber === fiber.id ? step.wait(wait) : wait;
  });

/**
 * The working time of accounts: the time in which the process works while steps of an account run. Accounts whose steps
 * run at the same time share it. Each millisecond counts once, however many steps of an account run, and waiting does not
 * count.
 */
export class WorkingTime {
  readonly #works = new Map<string, Work>();
  readonly #all = new Work([0, 0]);
  #sweptAt = 0;
  /** How many accounts have a step that runs. */
  #accounts = 0;
  /** How long the process has worked for each of the accounts, in milliseconds; only differences are meaningful. */
  #shared = 0;
  #busy = 0;
  /** The account that sent the last request. */
  #last: string | null = null;
  #lastAt = Number.NEGATIVE_INFINITY;
  /** When another account than the last one sent a request. */
  #otherAt = Number.NEGATIVE_INFINITY;

  /** Notes a request of an account, a user or a client address: an account that is alone need not leave time to others. */
  note(account: string, now: Millis): void {
    if (account !== this.#last) this.#otherAt = this.#lastAt;
    this.#last = account;
    this.#lastAt = now;
  }

  /** Runs a step of an account once it has rested, and counts its work. */
  pace<A, E, R>(account: string, step: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.andThen(this.rest(account), this.count(account, step));
  }

  /** Runs a step as short as a lookup: at once while the account is alone, otherwise in its place. */
  beside<A, E, R>(account: string, step: Effect.Effect<A, E, R>, inPlace: typeof step): typeof step {
    return Effect.withFiber((fiber) => (this.#isAlone(fiber, account) ? step : inPlace));
  }

  /**
   * While all accounts together have worked for more than their part of the process, an account that has worked for more
   * than its share of the part waits, unless it is alone.
   */
  rest(account: string): Effect.Effect<void> {
    return Effect.withFiber((fiber) => {
      // Steps that rest on their way would otherwise wait for their own ends.
      const isBegun = fiber.getRef(CurrentStep) !== null;
      const [rest, work] = this.#countUntil(momentOf(fiber), account, isBegun);
      if (rest <= 0 || this.#isAlone(fiber, account)) return Effect.void;
      // The work of others meanwhile is not the account's, although another step of the account may run.
      const restart = Effect.withFiber((rested) => {
        work.counted = this.#sharedUntil(momentOf(rested)[1]);
        return this.rest(account);
      });
      return Effect.andThen(Effect.sleep(Math.max(Math.ceil(rest), bounds.longestTurn)), restart);
    });
  }

  /** Runs a step that waits for no time, and counts the work until now and meanwhile. */
  count<A, E, R>(account: string, step: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.withFiber(({ id: fiber }) =>
      this.#during(account, 1, step, { fiber, wait: (part) => this.#during(account, -1, part, null) }),
    );
  }

  /** Runs what changes how many steps of the account run. */
  #during<A, E, R>(account: string, steps: number, run: Effect.Effect<A, E, R>, step: CountedStep | null) {
    const change = (by: number, isEnd: boolean) =>
      Effect.withFiber((fiber) => {
        const [, work] = this.#countUntil(momentOf(fiber), account);
        this.#accounts -= Math.min(1, work.running);
        this.#all.expected += work.change(by, isEnd);
        this.#accounts += Math.min(1, work.running);
        this.#all.running += by;
        return Effect.void;
      });
    return Effect.acquireUseRelease(
      change(steps, false),
      () => Effect.provideService(run, CurrentStep, step),
      () => change(-steps, steps > 0),
    );
  }

  /** Whether no other account has sent a request of late. */
  #isAlone(fiber: Fiber.Fiber<unknown, unknown>, account: string): boolean {
    const at = this.#last === account ? this.#otherAt : this.#lastAt;
    return fiber.getRef(Clock.Clock).currentTimeMillisUnsafe() - at >= bounds.presence;
  }

  #sharedUntil(busy: number): number {
    this.#shared += Math.max(0, busy - this.#busy) / Math.max(1, this.#accounts);
    this.#busy = busy;
    return this.#shared;
  }

  /** Counts the work of an account until now. Returns how long it has to rest, and its work. */
  #countUntil([now, busy]: Moment, account: string, isBegun = true): readonly [rest: number, Work] {
    const [shared, work] = [this.#sharedUntil(busy), this.#workOf(account, now)];
    const rest = work.count([now, shared], this.#works.size, isBegun);
    return [Math.min(rest, this.#all.count([now, busy], 1, isBegun)), work];
  }

  /** Returns the work of an account. Forgets accounts that have not worked of late, so their shares are free. */
  #workOf(account: string, now: number): Work {
    if (now - this.#sweptAt >= bounds.presence) {
      this.#sweptAt = now;
      for (const [other, { running, at }] of this.#works)
        if (running === 0 && now - at >= bounds.presence) this.#works.delete(other);
    }
    const work = this.#works.get(account) ?? new Work([now, this.#shared]);
    this.#works.set(account, work);
    return work;
  }
}

/** The time of all work for accounts, and the time of all visits, in which no account is known. @internal */
export const WorkingTimes = Context.Reference("@accountlink/core/WorkingTimes", {
  defaultValue: () => ({ accounts: new WorkingTime(), visits: new WorkingTime() }),
});
