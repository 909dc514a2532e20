import { Context, type Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Millis } from "../timestamp.ts";

/**
 * A limit on the requests in a time window. The window starts with its first request, or at `since` if it is durable.
 */
export interface CounterRule {
  /** Identifies the window, such as `key:<id>:second`. */
  readonly key: string;
  /** The maximum number of requests in one window, an integer. If it is 0 or less, no request is admitted. */
  readonly limit: number;
  /** The duration of a window that starts now, in milliseconds. */
  readonly durationMs: number;
  /**
   * When the window began. Set only for a durable window, such as a UTC day. Its count survives a loss of the counters,
   * because `ResilientCounters` restores it. Its end is fixed, so all callers compute the same `now + durationMs`.
   */
  readonly since?: Millis;
  /** What the caller knows about a durable window. Only `admit` uses it. */
  readonly checkpoint?: Checkpoint;
}

/**
 * The caller's knowledge about the durable window that ends at `now + durationMs`. Counters ignore a checkpoint if
 * their window with its key ends at another time.
 */
export interface Checkpoint {
  /**
   * When the window began. Counters that do not hold this window treat its count as 0 if they have lost no data since
   * it began. Otherwise they may report the window as `forgotten`.
   */
  readonly since: Millis;
  /**
   * A lower bound of the count. Null if the caller has not loaded it. If `admit` then needs the bound, it reports the
   * window as `forgotten`.
   */
  readonly floor: number | null;
  /** Requests that were admitted without these counters and must be added to the count. */
  readonly unsynced: number;
}

/**
 * How far the clocks of nodes and counters may differ, in milliseconds. Within this time of the end of a window, nodes
 * and counters may disagree about which window is the current one.
 *
 * @internal
 */
export const clockTolerance = 60_000;

export interface CounterState {
  readonly count: number;
  /**
   * When the window ends. For a window that has not begun, this is the end that the window would have if it began now.
   */
  readonly resetsAt: Millis;
}

/**
 * The decision on one request. `states` has the state of each rule's window after the decision, in the order of the
 * rules.
 */
export interface Admission {
  readonly admitted: boolean;
  readonly states: ReadonlyArray<CounterState>;
  /**
   * Indexes of the rules whose counts may be lost; omitted if there are none. If present, the request was not counted.
   * The caller must then load these counts and call `admit` again with the counts as `floor`.
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
     * Counts one request in every window, or in none if any window is full or forgotten. The decision on all rules is
     * atomic. A window whose checkpoint has a `floor` is never forgotten: its count is first raised to the floor.
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
