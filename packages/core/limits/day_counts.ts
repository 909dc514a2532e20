import { Context } from "effect";
import type { StoreEffect } from "../errors.ts";
import type { Millis } from "../timestamp.ts";

/** The count of a window of a day. Windows with the same `key` follow each other. */
export interface DayCount {
  readonly key: string;
  readonly endsAt: Millis;
  readonly counted: number;
}

/** Stores counts of the day for counters in memory, which would lose them at a restart of the process. */
export class DayCounts extends Context.Service<
  DayCounts,
  {
    /**
     * Saves all given counts or fails. A count is saved only if it is higher than the saved count. The given windows must
     * be distinct. For each window that is new, at least one ended window is deleted, if any exists.
     */
    readonly save: (counts: ReadonlyArray<DayCount>, now: Millis) => StoreEffect<void>;

    /** Returns the counts of all windows that have not ended. */
    readonly load: (now: Millis) => StoreEffect<ReadonlyArray<DayCount>>;
  }
>()("@accountlink/core/DayCounts") {}
