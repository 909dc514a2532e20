/**
 * Deadlines for statements that commit with their answer. If the server or network stalls, such a statement may reach
 * the database long after its request, and must not overwrite later writes.
 */
import type { Millis } from "@accountlink/core/timestamp";

/**
 * The database clock, estimated from its answers. If the database clock jumps, the next answer corrects the estimate.
 */
export class DatabaseClock {
  /** How far the database clock is ahead of `performance.now()`, minus the latency of the answer. */
  #ahead: number | undefined;

  saw(time: unknown): void {
    if (typeof time === "number") this.#ahead = time - performance.now();
  }

  /** The database time after this many milliseconds; undefined before the first answer. */
  timeIn(milliseconds: number): Millis | undefined {
    return this.#ahead === undefined ? undefined : Math.floor(performance.now() + this.#ahead + milliseconds);
  }
}
