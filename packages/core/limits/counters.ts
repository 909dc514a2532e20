import { Context, type Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Millis } from "../timestamp.ts";

/** A window starts with its first count and ends after its duration. */
export interface CounterRule {
  /** Identifies the window, such as `key:<id>:second`. */
  readonly key: string;
  /** The most counts in one window, an integer. With 0 or less nothing is admitted. */
  readonly limit: number;
  /** The duration of a window that starts now, in milliseconds. */
  readonly durationMs: number;
  /**
   * When the window began. Set only for durable windows, such as a UTC day, whose counts must survive a loss of the
   * counters: `ResilientCounters` restores these counts. The end of a durable window, `now + durationMs`, is the same
   * for all callers.
   */
  readonly since?: Millis;
  /** The caller's knowledge of a durable window. `read` ignores it. */
  readonly checkpoint?: Checkpoint;
}

/**
 * What the caller knows about the window that ends at `now + durationMs`. Counters that count in another window ignore
 * this knowledge.
 */
export interface Checkpoint {
  /**
   * When the window began. Counters that do not have the window take it as empty if they have lost nothing since that
   * time. Otherwise they may report the window as forgotten.
   */
  readonly since: Millis;
  /** A lower bound of the count; null to load it only if `admit` needs it. */
  readonly floor: number | null;
  /** Requests that were admitted without these counters and must be added to the count. */
  readonly unsynced: number;
}

/**
 * How far the clocks of nodes and counters may differ, in milliseconds. This close to the end of a window they may
 * disagree about which window it is.
 *
 * @internal
 */
export const clockTolerance = 60_000;

export interface CounterState {
  readonly count: number;
  /** When the window ends; for a window that has not begun, when it would end if it began now. */
  readonly resetsAt: Millis;
}

/** The decision, and the state of each window after it, in the order of the rules. */
export interface Admission {
  readonly admitted: boolean;
  readonly states: ReadonlyArray<CounterState>;
  /**
   * Indexes of rules whose counts may be lost; omitted if there are none. If present, nothing was counted, and the
   * caller tries again with the `floor` of each of these rules.
   */
  readonly forgotten?: ReadonlyArray<number>;
}

/**
 * Counts requests in fixed windows, for rate limits and quotas.
 *
 * @example
 * ```ts
 * import { CacheMemory } from "@accountlink/memory";
 * import { Effect } from "effect";
 *
 * const rule = { key: "key:Aa0Bb1Cc2Dd3:second", limit: 1, durationMs: 1_000 };
 * const admitTwice = Effect.gen(function* () {
 *   const counters = yield* Counters;
 *   return [yield* counters.admit([rule], 0), yield* counters.admit([rule], 500)];
 * });
 * const admissions = await Effect.runPromise(Effect.provide(admitTwice, CacheMemory.layer));
 * admissions.map(({ admitted }) => admitted); // [true, false]
 * ```
 */
export class Counters extends Context.Service<
  Counters,
  {
    /**
     * Counts one request in every window, or in none if a window is full or forgotten. Atomic over all rules. A `floor`
     * first raises the count of its window; a window with a `floor` is never forgotten.
     */
    readonly admit: (
      rules: ReadonlyArray<CounterRule>,
      now: Millis,
    ) => Effect.Effect<Admission, StoreUnavailable>;

    /** Returns the state of each window without counting. */
    readonly read: (
      rules: ReadonlyArray<CounterRule>,
      now: Millis,
    ) => Effect.Effect<ReadonlyArray<CounterState>, StoreUnavailable>;
  }
>()("@accountlink/core/Counters") {}
