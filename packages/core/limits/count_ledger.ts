/** The port for what survives a loss of the counters: durable counts, and the live nodes. */
import { Context, type Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Millis } from "../timestamp.ts";

/** Identifies a window: those of one key follow each other and differ in their end. */
export interface LedgerWindow {
  readonly key: string;
  readonly endsAt: Millis;
}

/** What a node knows of a window. */
export interface LedgerCount extends LedgerWindow {
  /** The highest count that the counters have reported. */
  readonly counted: number;
}

/**
 * Where nodes save counts. A repeated or late save changes nothing.
 *
 * @example
 * ```ts
 * import { StorageMemory } from "@accountlink/memory";
 * import { Effect } from "effect";
 *
 * const today = { key: "day:Aa0Bb1Cc2Dd3", endsAt: 86_400_000 };
 * const program = Effect.gen(function* () {
 *   const ledger = yield* CountLedger;
 *   yield* ledger.saveCounts([{ ...today, counted: 7 }], 0);
 *   return yield* ledger.loadCounts([today]);
 * });
 * await Effect.runPromise(Effect.provide(program, StorageMemory.layer)); // [7]
 * ```
 */
export class CountLedger extends Context.Service<
  CountLedger,
  {
    /**
     * Marks the node as live until a time, deletes nodes whose time has passed, and returns the
     * number of live nodes.
     *
     * @param until at or before `now` to remove the node
     */
    readonly renewNode: (
      nodeId: string,
      until: Millis,
      now: Millis,
    ) => Effect.Effect<number, StoreUnavailable>;

    /**
     * Raises the saved counts of distinct windows, all or none. Deletes ended windows, at least as
     * many as it adds.
     */
    readonly saveCounts: (
      counts: ReadonlyArray<LedgerCount>,
      now: Millis,
    ) => Effect.Effect<void, StoreUnavailable>;

    /** The saved count of each window, in the order given; 0 for an unknown one. */
    readonly loadCounts: (
      windows: ReadonlyArray<LedgerWindow>,
    ) => Effect.Effect<ReadonlyArray<number>, StoreUnavailable>;
  }
>()("@accountlink/core/CountLedger") {}
