import { Clock, Effect } from "effect";
import type { KeyId } from "../ids.ts";
import { dayMs, type Millis, startOfDay } from "../timestamp.ts";
import { type UsageCounts, type UsageGroup, type UsagePeriod, usageGroups } from "./usage.ts";
import { type UsageOwner, UsageStore } from "./usage_store.ts";

/** The requests of one UTC day, in every group of routes. @internal */
export interface UsageDay {
  /** Such as `2026-01-31`. */
  readonly day: string;
  readonly groups: ReadonlyArray<UsageCounts & { readonly group: UsageGroup }>;
}

/** The usage of the last days up to today, oldest first. Days without requests are included. */
type UsageDays = ReadonlyArray<UsageDay>;

/**
 * Makes two functions that read usage: `of` reads the usage of an account or a key, and `byKey` reads the usage of
 * every key of an account at once. @internal
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

const daysIn = (periods: ReadonlyArray<UsagePeriod>, first: Millis, days: number): UsageDays =>
  Array.from({ length: days }, (_, index) => dayOf(periods, first + index * dayMs));

const dayOf = (periods: ReadonlyArray<UsagePeriod>, day: number): UsageDay => ({
  day: new Date(day).toISOString().slice(0, 10),
  groups: usageGroups.map((group) => {
    const found = periods.find((period) => period.from === day && period.group === group);
    return { group, served: found?.served ?? 0, refused: found?.refused ?? 0, errors: found?.errors ?? 0 };
  }),
});
