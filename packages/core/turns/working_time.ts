/** Makes accounts rest that work for longer than their share while the process is busy. */
import { Effect } from "effect";
import { monotonicMillis } from "../monotonic_millis.ts";
import { ProcessLag } from "./process_lag.ts";
import { isAlone } from "./recent_requests.ts";

/** The part of the time for lists and pages of accounts, which leaves the rest to lookups, writes and sign-ins. @internal */
export const accountsPart = 0.75;

/** How long all accounts together may work before they rest, in milliseconds. */
const workedAtOnce = 100;

/** How long the work around a step takes, in milliseconds: a request is read, and its answer is written. */
const timeAround = 1;

/** How late timers are in a busy process, in milliseconds. A sign-in waits for some 20 turns of the event loop. */
const busyLag = 1;

/** How long an account counts after its last step, in milliseconds. */
const window = 1_000;

/** The longest rest of a place, in milliseconds. A step that waits for a platform takes no processor time. */
const longestRest = 500;

interface Work {
  /** How much the account has worked beyond its share, in milliseconds. */
  ahead: number;
  at: number;
}

/** The working time of accounts at one resource, which the accounts of the last second share. */
export class WorkingTime {
  readonly #part: number;
  readonly #works = new Map<string, Work>();
  #sweptAt = 0;

  /** @param part the part of the time that all accounts together may work in the long run, if the process is busy */
  constructor(part: number) {
    this.#part = part;
  }

  /**
   * Notes a step that has ended, and returns how long its place rests; null if it is free at once. An account may use
   * time that nobody else wants.
   *
   * @param began when the step began, by `monotonicMillis`
   */
  restAfter(account: string, began: number): Effect.Effect<Effect.Effect<void> | null> {
    return Effect.zipWith(monotonicMillis, isAlone(account), (now, alone) => {
      const rest = this.#restOf(account, began - timeAround, now);
      return alone || rest === 0
        ? null
        : Effect.flatMap(Effect.flatten(ProcessLag), (lag) =>
            lag < busyLag ? Effect.void : Effect.sleep(rest),
          );
    });
  }

  #restOf(account: string, began: number, now: number): number {
    this.#sweep(now);
    const work = this.#works.get(account) ?? { ahead: 0, at: began };
    this.#works.set(account, work);
    const share = this.#part / this.#works.size;
    const allowed = workedAtOnce / this.#works.size;
    const ahead = Math.max(0, work.ahead - (now - work.at) * share) + now - began;
    work.ahead = Math.min(ahead, allowed + longestRest * share);
    work.at = now;
    return Math.max(0, work.ahead - allowed) / share;
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < window) return;
    this.#sweptAt = now;
    for (const [account, { at }] of this.#works) if (now - at >= window) this.#works.delete(account);
  }
}
