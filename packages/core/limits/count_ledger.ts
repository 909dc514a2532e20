import { Context, type Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Millis } from "../timestamp.ts";

/** Identifies a time window in which requests are counted. Windows with the same `key` follow each other. */
export interface LedgerWindow {
  readonly key: string;
  readonly endsAt: Millis;
}

/** The count of a window, as far as one node knows it. */
export interface LedgerCount extends LedgerWindow {
  readonly counted: number;
}

/**
 * Stores copies of the counts of limits, from which the counts are restored after `Counters` lost their data. Also
 * stores which nodes are live. A save that is repeated or comes late changes nothing.
 */
export class CountLedger extends Context.Service<
  CountLedger,
  {
    /**
     * Marks the node as live until a given time, deletes nodes whose time has passed, and returns the number of live
     * nodes.
     *
     * @param until when the node stops being live; if this time is not after `now`, the node is deleted at once
     */
    readonly renewNode: (
      nodeId: string,
      until: Millis,
      now: Millis,
    ) => Effect.Effect<number, StoreUnavailable>;

    /**
     * Saves the counts of all given windows, or of none. A count is saved only if it is higher than the saved count.
     * The given windows must be distinct. For each window that is new to the ledger, at least one ended window is
     * deleted, if any exists.
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
