/** Makes accounts rest that work for longer than their share of the process. */
import { Effect } from "effect";
import { monotonicMillis } from "../monotonic_millis.ts";
import { isAlone } from "./recent_requests.ts";

/** The part of the time that all accounts together may work, in the long run. */
const workingTime = 0.75;

/** How long all accounts together may work before they rest, in milliseconds. */
const workedAtOnce = 100;

/** How long the work around a step takes, in milliseconds: a request is read, and its answer is written. */
const timeAround = 1;

/** How long an account counts after its last step, in milliseconds. */
const window = 1_000;

interface Work {
  /** How much the account has worked beyond its share, in milliseconds. */
  ahead: number;
  at: number;
}

/** The accounts that take steps of one kind. The time is shared between the accounts of the last second. */
export class Rests {
  readonly #longest: number;
  readonly #works = new Map<string, Work>();
  #sweptAt = 0;

  /** @param longest the longest rest, in milliseconds */
  constructor(longest: number) {
    this.#longest = longest;
  }

  /**
   * Returns how long the place of a step that has ended rests, in milliseconds. An account that is alone does not rest.
   *
   * @param began when the step began, by `monotonicMillis`
   */
  after(account: string, began: number): Effect.Effect<number> {
    return Effect.zipWith(monotonicMillis, isAlone(account), (now, alone) => {
      const rest = this.#restOf(account, began - timeAround, now);
      return alone ? 0 : rest;
    });
  }

  #restOf(account: string, began: number, now: number): number {
    this.#sweep(now);
    const work = this.#works.get(account) ?? { ahead: 0, at: began };
    this.#works.set(account, work);
    const share = workingTime / this.#works.size;
    const allowed = workedAtOnce / this.#works.size;
    const ahead = Math.max(0, work.ahead - (now - work.at) * share) + now - began;
    work.ahead = Math.min(ahead, allowed + this.#longest * share);
    work.at = now;
    return Math.max(0, work.ahead - allowed) / share;
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < window) return;
    this.#sweptAt = now;
    for (const [account, { at }] of this.#works) if (now - at >= window) this.#works.delete(account);
  }
}
