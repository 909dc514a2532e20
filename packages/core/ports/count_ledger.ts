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

/** What one node knows of a window. Both numbers only grow. */
export interface NodeCount extends LedgerWindow {
  /** The highest count that the shared counters have told it. */
  readonly counted: number;
  /** How many it has admitted on its own, without the shared counters. */
  readonly own: number;
}

/** What all nodes together have saved of a window. */
export interface LedgerCount {
  /** The highest count that the shared counters have told any node. */
  readonly counted: number;
  /** How many the other nodes have admitted on their own. */
  readonly others: number;
}

/**
 * Where nodes write down what they know. Each has entries of its own, which nobody else changes: a save that is made
 * twice, or late, changes nothing.
 */
export class CountLedger extends Context.Service<
  CountLedger,
  {
    /**
     * Notes that the node lives until then, forgets who lives no longer, and gives how many do.
     *
     * @param until not after `now` takes the node off
     */
    readonly renewNode: (
      nodeId: string,
      until: Millis,
      now: Millis,
    ) => Effect.Effect<number, StoreUnavailable>;

    /**
     * Raises what the node knows of these windows, no two of which are the same; all of them or none. Windows that are
     * over are forgotten, at least as many as are new.
     */
    readonly saveCounts: (
      nodeId: string,
      counts: ReadonlyArray<NodeCount>,
      now: Millis,
    ) => Effect.Effect<void, StoreUnavailable>;

    /** What is saved of each window, in their order; zeros for one of which nothing is. */
    readonly loadCounts: (
      nodeId: string,
      windows: ReadonlyArray<LedgerWindow>,
    ) => Effect.Effect<ReadonlyArray<LedgerCount>, StoreUnavailable>;
  }
>()("@accountlink/core/CountLedger") {}
