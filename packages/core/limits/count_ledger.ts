import { Context, type Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Millis } from "../timestamp.ts";

/**
 * Identifies a time window in which requests are counted. Successive windows have the same `key` and another `endsAt`.
 */
export interface LedgerWindow {
  readonly key: string;
  readonly endsAt: Millis;
}

/** A node's knowledge about a window. */
export interface LedgerCount extends LedgerWindow {
  readonly counted: number;
}

/**
 * Stores durable copies of the counts of limits, and the list of live nodes, for when `Counters` lose their data. Repeated
 * or late saves change nothing.
 */
export class CountLedger extends Context.Service<
  CountLedger,
  {
    /**
     * Marks the node as live until a time, deletes nodes whose time has passed, and returns the number of live nodes.
     *
     * @param until a time at or before `now` removes the node
     */
    readonly renewNode: (
      nodeId: string,
      until: Millis,
      now: Millis,
    ) => Effect.Effect<number, StoreUnavailable>;

    /**
     * Raises the saved counts of all given windows, or of none. The windows must be distinct. For each window that it
     * adds, it also deletes at least one ended window, if there is one.
     */
    readonly saveCounts: (
      counts: ReadonlyArray<LedgerCount>,
      now: Millis,
    ) => Effect.Effect<void, StoreUnavailable>;

    /** Returns the saved count of each window, in the given order; 0 for an unknown window. */
    readonly loadCounts: (
      windows: ReadonlyArray<LedgerWindow>,
    ) => Effect.Effect<ReadonlyArray<number>, StoreUnavailable>;
  }
>()("@accountlink/core/CountLedger") {}
