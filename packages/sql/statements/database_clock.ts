/**
 * Deadlines for statements that are committed at once: one that reaches the server long after its request, since server or
 * network stood still, must not undo what was written meanwhile.
 */
import type { Millis } from "@accountlink/core/timestamp";

/** The clock of a database, as its answers tell. A step of that clock is seen with the next answer. */
export class DatabaseClock {
  /** How far it is ahead of `performance.now()`, less the time that its answer took. */
  #ahead: number | undefined;

  /** Takes the time of an answer. */
  saw(time: unknown): void {
    if (typeof time === "number") this.#ahead = time - performance.now();
  }

  /** The time in so many milliseconds; undefined before the first answer. */
  timeIn(milliseconds: number): Millis | undefined {
    return this.#ahead === undefined ? undefined : Math.floor(performance.now() + this.#ahead + milliseconds);
  }
}
