/**
 * The port for limits: windows that count.
 */
import { Context, type Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Millis } from "../link.ts";

/** One window. It starts with the first count in it and is gone after its duration. */
export interface CounterRule {
  /** Names the window, such as `key:<id>:second`. */
  readonly key: string;
  /** How many may be counted while the window lasts; an integer. With 0 or less nothing is admitted. */
  readonly limit: number;
  /** How long a window lasts that starts now, in milliseconds. */
  readonly durationMs: number;
  /**
   * When the window began, for a count that has to outlast the counters. Everybody who counts in such a window sees it
   * end at the same time, `now + durationMs`: midnight. `ResilientCounters` keeps these counts.
   */
  readonly since?: Millis;
  /** What the caller knows of a count that outlasts the counters. `read` ignores it. */
  readonly checkpoint?: Checkpoint;
}

/**
 * What is known, outside of the counters, of the window that ends at `now + durationMs`. The counters ignore it when
 * they are in another window.
 */
export interface Checkpoint {
  /**
   * When the window began. Counters that began before it did, and lost nothing since, know that a window without counts
   * has none. Others may say that it is forgotten.
   */
  readonly since: Millis;
  /** The least that was counted. Null when that was not looked up: `admit` then says when it has to be. */
  readonly floor: number | null;
  /** Requests that were admitted without these counters, and count from now on. */
  readonly owed: number;
}

/**
 * By how much the clocks of nodes and counters may differ, in milliseconds. This close to its ends, they may disagree
 * about which window it is.
 */
export const clockTolerance = 60_000;

/** The state of one window. */
export interface CounterState {
  readonly count: number;
  /** When the window ends; for one that has not begun, when it would if it began now. */
  readonly resetsAt: Millis;
}

/** Whether all rules had room, and the state of each, in their order, after the decision. */
export interface Admission {
  readonly admitted: boolean;
  readonly states: ReadonlyArray<CounterState>;
  /**
   * The rules, by index, of whose counts some may be forgotten. Nothing was counted: the caller asks again with the
   * `floor` of each. Left out when there are none.
   */
  readonly forgotten?: ReadonlyArray<number>;
}

/** Where counts live. */
export class Counters extends Context.Service<
  Counters,
  {
    /**
     * Counts one in every window, or, when one of them is full or forgotten, in none. Atomic over all rules. A window
     * with a `floor` is raised to it first, and is not forgotten any more.
     */
    readonly admit: (
      rules: ReadonlyArray<CounterRule>,
      now: Millis,
    ) => Effect.Effect<Admission, StoreUnavailable>;

    /** The state of each window, counting nothing. */
    readonly read: (
      rules: ReadonlyArray<CounterRule>,
      now: Millis,
    ) => Effect.Effect<ReadonlyArray<CounterState>, StoreUnavailable>;
  }
>()("@accountlink/core/Counters") {}
