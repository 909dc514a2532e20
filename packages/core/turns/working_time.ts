/** Paces accounts that work for longer than their share of the process while others are there. */
import { Clock, Context, Effect } from "effect";
import { monotonicMillis } from "../monotonic_millis.ts";
import { bounds } from "./bounds.ts";
import { RecentRequests } from "./recent_requests.ts";

/**
 * How long this process has worked, in milliseconds; only differences are meaningful. A runtime that does not tell it
 * counts as always at work. @internal
 */
export const BusyTime = Context.Reference<Effect.Effect<number>>("@accountlink/core/BusyTime", {
  defaultValue: () => {
    const { performance } = globalThis as {
      performance?: { eventLoopUtilization?: () => { readonly active: number } };
    };
    return performance?.eventLoopUtilization === undefined
      ? monotonicMillis
      : Effect.sync(() => performance.eventLoopUtilization?.().active ?? 0);
  },
});

interface Work {
  /** How many steps of the account run. */
  running: number;
  /** The `BusyTime` until which the account's work is counted. */
  counted: number;
  /** How much the account has worked beyond its share at the time `at`, in milliseconds. */
  ahead: number;
  at: number;
}

/**
 * The working time of accounts: the time in which the process works while steps of an account run, alone or beside the
 * steps of others. Each millisecond counts once, however many steps of the account run, and waiting does not count.
 */
export class WorkingTime {
  readonly #works = new Map<string, Work>();
  #sweptAt = 0;

  /** Runs a step of an account as soon as the account has not worked for more than its share, or is alone. */
  pace<A, E, R>(account: string, step: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    const end = (work: Work) =>
      Effect.map(this.#count(work), () => {
        work.running--;
      });
    return Effect.flatMap(this.#begin(account), (work) => Effect.onExit(step, () => end(work)));
  }

  #begin(account: string): Effect.Effect<Work> {
    return Effect.flatMap(this.#workOf(account), (work) =>
      Effect.map(this.#rest(account, work), () => {
        work.running++;
        return work;
      }),
    );
  }

  #rest(account: string, work: Work): Effect.Effect<void> {
    return Effect.flatMap(this.#count(work), (rest) => {
      if (rest <= 0) return Effect.void;
      // The work of others meanwhile is not the account's, although another step of the account may run.
      const skip = Effect.flatMap(BusyTime, (busyTime) =>
        Effect.map(busyTime, (busy) => {
          work.counted = busy;
        }),
      );
      const again = Effect.andThen(Effect.sleep(rest), skip).pipe(
        Effect.andThen(Effect.suspend(() => this.#rest(account, work))),
      );
      return Effect.flatMap(isAlone(account), (alone) => (alone ? Effect.void : again));
    });
  }

  /** Counts the work of an account until now. Returns how long the account has to rest, in milliseconds. */
  #count(work: Work): Effect.Effect<number> {
    return Effect.zipWith(monotonicMillis, Effect.flatten(BusyTime), (now, busy) => {
      const most = work.running > 0 ? now - work.at : Math.min(now - work.at, bounds.workAroundStep);
      const worked = Math.min(most, Math.max(0, busy - work.counted));
      const share = bounds.workingPart / this.#works.size;
      const allowed = bounds.workedAtOnce / this.#works.size;
      const ahead = Math.max(0, work.ahead - (now - work.at) * share) + worked;
      // A step that took long makes the account rest for no longer than many short ones.
      Object.assign(work, { ahead: Math.min(ahead, 2 * allowed), counted: busy, at: now });
      return (work.ahead - allowed) / share;
    });
  }

  /** Returns the work of an account. Forgets accounts that have not worked of late, so that their shares are free. */
  #workOf(account: string): Effect.Effect<Work> {
    return Effect.map(monotonicMillis, (now) => {
      if (now - this.#sweptAt >= bounds.presence) {
        this.#sweptAt = now;
        for (const [other, { at }] of this.#works) if (now - at >= bounds.presence) this.#works.delete(other);
      }
      const work = this.#works.get(account) ?? { running: 0, counted: 0, ahead: 0, at: now };
      this.#works.set(account, work);
      return work;
    });
  }
}

/** The time of all work for accounts, and the time of all visits, in which no account is known. @internal */
export const WorkingTimes = Context.Reference("@accountlink/core/WorkingTimes", {
  defaultValue: () => ({ accounts: new WorkingTime(), visits: new WorkingTime() }),
});

const isAlone = (account: string): Effect.Effect<boolean> =>
  Effect.zipWith(RecentRequests, Clock.currentTimeMillis, (recent, now) => recent.isAlone(account, now));
