/**
 * Usage per UTC day, as owners see it.
 */
import { Clock, Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import { dayMs } from "../timestamp.ts";
import { type UsageCounts, type UsageGroup, type UsagePeriod, usageGroups } from "./usage.ts";
import { type UsageOwner, UsageStore } from "./usage_store.ts";

/**
 * The requests of one UTC day, in every group of routes.
 *
 * @internal
 */
export interface UsageDay {
  /** Such as `2026-01-31`. */
  readonly day: string;
  readonly groups: ReadonlyArray<UsageCounts & { readonly group: UsageGroup }>;
}

/**
 * Makes the function that reads usage.
 *
 * @returns a function of the owner and the number of days, today included; oldest first, also days
 * without requests
 *
 * @internal
 */
export const makeUsageDays: Effect.Effect<
  (owner: UsageOwner, days: number) => Effect.Effect<ReadonlyArray<UsageDay>, StoreUnavailable>,
  never,
  UsageStore
> = Effect.map(UsageStore, (store) =>
  Effect.fnUntraced(function* (owner, days) {
    const now = yield* Clock.currentTimeMillis;
    const first = now - (now % dayMs) - (days - 1) * dayMs;
    const periods = yield* store.days(owner, first);
    return Array.from({ length: days }, (_, index) => dayOf(periods, first + index * dayMs));
  }),
);

const dayOf = (periods: ReadonlyArray<UsagePeriod>, day: number): UsageDay => ({
  day: new Date(day).toISOString().slice(0, 10),
  groups: usageGroups.map((group) => {
    const found = periods.find((period) => period.from === day && period.group === group);
    return { group, served: found?.served ?? 0, refused: found?.refused ?? 0, errors: found?.errors ?? 0 };
  }),
});
