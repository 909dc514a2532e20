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
   * Whether the count has to outlast the loss of the counters. Whoever counts in such a window sees it end at one fixed
   * time, `now + durationMs`: midnight.
   */
  readonly durable?: boolean;
  /**
   * How many are known to have been counted in the window that ends at `now + durationMs`. One that has counted fewer
   * has lost some: `admit` raises it before it decides. `read` takes no notice.
   */
  readonly floor?: number;
}

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
  /** True when a window was below its floor; else left out. */
  readonly raised?: true;
}

/** Where counts live. */
export class Counters extends Context.Service<
  Counters,
  {
    /** Counts one in every window, or, when one of them is full, in none. Atomic over all rules. */
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
