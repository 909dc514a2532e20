import { Array as Arr, Clock, Context, Effect, Order, Schema } from "effect";
import type { StoreEffect } from "../errors.ts";
import { groupBy, partsOf } from "../group_by.ts";
import { KeyId } from "../ids.ts";
import { keyRecords } from "../keys/api_key.ts";
import { type RecordOf, recordType } from "../records/record_type.ts";
import { recordStore, type Tx } from "../records/records.ts";
import { assertStorable } from "../storable_text.ts";
import { dayMs, type Millis, startOfDay } from "../timestamp.ts";

/** @internal */
export const usageGroups = ["lookup", "bulk", "write", "alts", "session"] as const;

export type UsageGroup = (typeof usageGroups)[number];

/** How requests ended: with an answer, refused by a limit, or with another error. */
export type UsageOutcome = "served" | "refused" | "errors";

export type UsageCounts = Readonly<Record<UsageOutcome, number>>;

/** @internal */
export const addUsage = (one: UsageCounts, other: UsageCounts): UsageCounts => ({
  served: one.served + other.served,
  refused: one.refused + other.refused,
  errors: one.errors + other.errors,
});

export interface KeyUsage extends UsageCounts {
  readonly key: KeyId;
  readonly group: UsageGroup;
}

export interface UsagePeriod extends UsageCounts {
  readonly from: Millis;
  readonly group: UsageGroup;
}

const byTimeAndGroup = (one: UsagePeriod, other: UsagePeriod): number =>
  one.from - other.from || usageGroups.indexOf(one.group) - usageGroups.indexOf(other.group);

/** The counts of a meter since its previous batch. */
export interface UsageBatch {
  readonly meter: string;
  /** The batch's number, which is higher than the numbers of the meter's earlier batches. */
  readonly sequence: number;
  /** The start of the UTC day on which all requests of the batch were answered. */
  readonly day: Millis;
  /** One entry for each key and group of routes. */
  readonly counts: ReadonlyArray<KeyUsage>;
  readonly uses: ReadonlyArray<{ readonly key: KeyId; readonly at: Millis }>;
}

/** A key's stored last use is updated only if the new one is this much later, in milliseconds. @internal */
export const lastUsePrecision = 30_000;

/** Selects the usage to read: of one key, or of all keys of an account, including revoked keys. */
export type UsageOwner = { readonly account: string } | { readonly key: KeyId };

/** Stores the usage of API keys per UTC day. */
export class UsageStore extends Context.Service<
  UsageStore,
  {
    /**
     * Adds a batch to its day and stores the last uses, all or nothing. Adding the same batch again changes nothing, so
     * a batch with an unknown outcome can be repeated.
     */
    readonly add: (batch: UsageBatch) => StoreEffect<void>;

    /**
     * Returns the usage of the UTC days that start at `from` or later, sorted by day and group. Days without usage are
     * left out.
     */
    readonly days: (owner: UsageOwner, from: Millis) => StoreEffect<ReadonlyArray<UsagePeriod>>;

    /** Like `days`, for each key of an account, including revoked ones. Omits keys without usage in these days. */
    readonly daysByKey: (
      account: string,
      from: Millis,
    ) => StoreEffect<ReadonlyMap<KeyId, ReadonlyArray<UsagePeriod>>>;

    /**
     * Deletes the usage of days that started before `before`, and the sequence numbers of meters without a later batch.
     * Works in small atomic steps.
     */
    readonly forget: (before: Millis) => StoreEffect<void>;
  }
>()("@accountlink/core/UsageStore") {}

/** The requests of one UTC day, in every group of routes. @internal */
export interface UsageDay {
  /** Such as `2026-01-31`. */
  readonly day: string;
  readonly groups: ReadonlyArray<UsageCounts & { readonly group: UsageGroup }>;
}

/**
 * Makes two functions that read the usage of the last days up to today, oldest first, with days without requests: `of`
 * reads the usage of an account or a key, and `byKey` reads the usage of every key of an account at once. @internal
 */
export const makeUsageDays = Effect.map(UsageStore, (store) => ({
  of: Effect.fnUntraced(function* (owner: UsageOwner, days: number) {
    const first = yield* firstOf(days);
    return daysIn(yield* store.days(owner, first), first, days);
  }),
  byKey: Effect.fnUntraced(function* (account: string, days: number) {
    const first = yield* firstOf(days);
    const found = yield* store.daysByKey(account, first);
    return (key: KeyId) => daysIn(found.get(key) ?? [], first, days);
  }),
}));

const firstOf = (days: number): Effect.Effect<Millis> =>
  Effect.map(Clock.currentTimeMillis, (now) => startOfDay(now) - (days - 1) * dayMs);

const daysIn = (periods: ReadonlyArray<UsagePeriod>, first: Millis, days: number): ReadonlyArray<UsageDay> =>
  Array.from({ length: days }, (_, index) => dayOf(periods, first + index * dayMs));

const dayOf = (periods: ReadonlyArray<UsagePeriod>, day: number): UsageDay => ({
  day: new Date(day).toISOString().slice(0, 10),
  groups: usageGroups.map((group) => {
    const found = periods.find((period) => period.from === day && period.group === group);
    return { group, served: found?.served ?? 0, refused: found?.refused ?? 0, errors: found?.errors ?? 0 };
  }),
});

const outcomes = ["served", "refused", "errors"] as const;

/** The requests of a key in a group of routes on a UTC day. @internal */
export const usageDays = recordType({
  name: "usage_days",
  fields: {
    key: KeyId,
    day: Schema.Int,
    group: Schema.Literals(usageGroups),
    served: Schema.Int,
    refused: Schema.Int,
    errors: Schema.Int,
  },
  columns: { key: "key_id", day: "starts_at", group: "route_group" },
  key: ["key", "day", "group"],
  indexes: { byDay: { fields: ["day", "key", "group"] } },
});

/** The last part of the last batch of a meter. @internal */
export const usageMeters = recordType({
  name: "usage_meters",
  fields: { meter: Schema.String, sequence: Schema.Int, day: Schema.Int },
  columns: { meter: "id", sequence: "last_batch" },
  key: ["meter"],
  indexes: { byDay: { fields: ["day", "meter"] } },
});

/** More than the parts of any batch. Parts follow each other through all batches of a meter. */
const mostParts = 1_000_000;

/** Batches lock records in this order, so that two of them cannot deadlock. */
const lockOrder = Order.combine(
  Order.mapInput(Order.String, ({ key }: KeyUsage) => key),
  Order.mapInput(Order.String, ({ group }: KeyUsage) => group),
);

/** Adds up the usage of each group in a day, oldest day first. */
const sumOf = (found: ReadonlyArray<RecordOf<typeof usageDays>>): ReadonlyArray<UsagePeriod> =>
  Object.values(Arr.groupBy(found, ({ day, group }) => `${day} ${group}`))
    .map(([{ key: _, day: from, group, ...first }, ...others]) => ({
      from,
      group,
      ...others.reduce(addUsage, first),
    }))
    .toSorted(byTimeAndGroup);

const keysOf = (tx: Tx, account: string) =>
  Effect.map(tx.ofAccount(keyRecords, account), (keys) => keys.map(({ id }) => id));

/** A statement reads the usage of this many keys: 90 days of each are some hundred records. */
const keysAtOnce = 25;

const usageOf = Effect.fnUntraced(function* (tx: Tx, keys: ReadonlyArray<KeyId>, from: Millis) {
  const steps = partsOf(keys, keysAtOnce).map((some) =>
    tx.listAll(
      usageDays.byKey,
      some.map((key) => [key]),
      { after: [from - 1] },
    ),
  );
  return (yield* Effect.forEach(
    steps,
    Effect.tap(() => Effect.yieldNow),
  )).flat();
});

/** Stores usage in any storage. @internal */
export const storedUsage = recordStore(UsageStore, ({ read, write, removeBefore, mostWritten }) => ({
  add: Effect.fnUntraced(function* ({ meter, sequence, day, counts, uses }: UsageBatch) {
    assertStorable([meter]);
    const sorted = counts.toSorted(lockOrder);
    const parts = Math.ceil(Math.max(counts.length, uses.length) / mostWritten);
    for (let part = 0; part < parts; part++) {
      const [start, end] = [part * mostWritten, (part + 1) * mostWritten];
      yield* write("add", `usage of ${meter}`, function* (tx) {
        const number = sequence * mostParts + part;
        const stored = yield* tx.get(usageMeters, meter);
        if (stored !== undefined && stored.sequence >= number) return;
        yield* tx.put(usageMeters, { meter, sequence: number, day });
        const records = sorted.slice(start, end).map((count) => ({ ...count, day }));
        yield* tx.mergeAll(usageDays, records, { sums: outcomes });
        yield* tx.noteUses(uses.slice(start, end));
      });
    }
  }),

  days: (owner, from) =>
    read("days", function* (tx) {
      const keys = "key" in owner ? [owner.key] : yield* keysOf(tx, owner.account);
      return sumOf(yield* usageOf(tx, keys, from));
    }),

  daysByKey: (account, from) =>
    read("daysByKey", function* (tx) {
      const byKey = groupBy(yield* usageOf(tx, yield* keysOf(tx, account), from), ({ key }) => key);
      return new Map(Array.from(byKey, ([key, found]) => [key, sumOf(found)]));
    }),

  forget: (before) =>
    Effect.asVoid(
      Effect.all([usageDays, usageMeters].map(({ byDay }) => removeBefore("forget", byDay, [before]))),
    ),
}));
