/**
 * The port for what outlasts the counters: which nodes live, and how much of the lasting windows is used.
 */
import { Context, type Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Millis } from "../link.ts";

/** Names a window: windows of one key follow each other. */
export interface LedgerWindow {
  readonly key: string;
  readonly endsAt: Millis;
}

/** What a node knows of a window. */
export interface LedgerCount extends LedgerWindow {
  /** The highest count that the counters have reported. */
  readonly counted: number;
}

/** Where nodes save counts. A save that is repeated, or late, changes nothing. */
export class CountLedger extends Context.Service<
  CountLedger,
  {
    /**
     * Notes that the node lives until then, forgets the nodes that live no longer, and gives how many do.
     *
     * @param until not after `now` takes the node off
     */
    readonly renewNode: (
      nodeId: string,
      until: Millis,
      now: Millis,
    ) => Effect.Effect<number, StoreUnavailable>;

    /**
     * Raises what is saved of these windows, no two of which are the same; all of them or none. Windows that are over
     * are deleted, at least as many as are new.
     */
    readonly saveCounts: (
      counts: ReadonlyArray<LedgerCount>,
      now: Millis,
    ) => Effect.Effect<void, StoreUnavailable>;

    /** The saved count of each window, in their order; 0 for an unknown one. */
    readonly loadCounts: (
      windows: ReadonlyArray<LedgerWindow>,
    ) => Effect.Effect<ReadonlyArray<number>, StoreUnavailable>;
  }
>()("@accountlink/core/CountLedger") {}
