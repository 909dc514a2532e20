import { Array as Arr, Context, Effect, Schema } from "effect";
import type { StoreEffect } from "../errors.ts";
import { type RecordOf, recordType } from "../records/record_type.ts";
import { recordStore } from "../records/records.ts";
import type { Millis } from "../timestamp.ts";

/** A limit on the requests in a time window. The window starts with its first request. */
export interface CounterRule {
  /** Identifies the window, such as `key:<id>:second`. */
  readonly key: string;
  /** The maximum number of requests in one window, an integer. If it is 0 or less, no request is admitted. */
  readonly limit: number;
  /** The duration of a window that starts now, in milliseconds. */
  readonly durationMs: number;
  /** Whether the window ends at midnight UTC. Counters in memory save such counts, since a restart would lose a day. */
  readonly isDay?: boolean;
}

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
    /** Counts one request in every window, or in none if any window is full. The decision on all rules is atomic. */
    readonly admit: (rules: ReadonlyArray<CounterRule>, now: Millis) => StoreEffect<Admission>;

    /**
     * Whether every window has room, as far as this process knows. Only counters of another process have this: what a
     * request reads may begin while they are asked.
     */
    readonly hasRoom?: (rules: ReadonlyArray<CounterRule>, now: Millis) => StoreEffect<boolean>;

    /** Returns the state of each window without counting. */
    readonly read: (
      rules: ReadonlyArray<CounterRule>,
      now: Millis,
    ) => StoreEffect<ReadonlyArray<CounterState>>;
  }
>()("@accountlink/core/Counters") {}

/** The count of a window of a day. Windows with the same `key` follow each other. */
/** @internal */
export const dayCounts = recordType({
  name: "day_counts",
  fields: { endsAt: Schema.Int, key: Schema.String, counted: Schema.Int },
  columns: { key: "counter" },
  key: ["endsAt", "key"],
  indexes: {},
});

export interface DayCount extends RecordOf<typeof dayCounts> {}

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

/** Stores counts in any storage. Each save also drops the windows that have ended. @internal */
export const storedDayCounts = recordStore(DayCounts, ({ read, write, removeBefore, mostWritten }) => ({
  save: (counts, now) =>
    Effect.gen(function* () {
      yield* removeBefore("save", dayCounts.byKey, [now + 1]);
      for (const part of Arr.chunksOf(counts, mostWritten)) {
        yield* write("save", "day counts", function* (tx) {
          const keys = part.map(({ endsAt, key }) => [endsAt, key]);
          const stored = (yield* tx.getAll(dayCounts, keys)).map(
            ({ endsAt, key, counted }) => [`${endsAt} ${key}`, counted] as const,
          );
          const before = new Map(stored);
          yield* tx.putAll(
            dayCounts,
            part.filter(({ endsAt, key, counted }) => counted > (before.get(`${endsAt} ${key}`) ?? 0)),
          );
        });
      }
    }),

  load: (now) => read("load", (tx) => tx.list(dayCounts.byKey, [], { after: [now] })),
}));
