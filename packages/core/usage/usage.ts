import type { KeyId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";

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

/** @internal */
export const byTimeAndGroup = (one: UsagePeriod, other: UsagePeriod): number =>
  one.from - other.from || usageGroups.indexOf(one.group) - usageGroups.indexOf(other.group);
