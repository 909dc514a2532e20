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
  /** How many may be counted while the window lasts; a positive integer. */
  readonly limit: number;
  /** How long a window lasts that starts now, in milliseconds. */
  readonly durationMs: number;
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
