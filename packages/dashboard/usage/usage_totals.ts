/**
 * Usage of an account or a key, added up.
 */
import { addUsage, type UsageCounts, type UsageDay, type UsageGroup } from "@accountlink/core/usage";

/** What the groups of routes are called. */
export const groups: Record<UsageGroup, string> = {
  lookup: "Lookups",
  bulk: "Bulk",
  write: "Writes",
  alts: "Alts",
  session: "Sessions",
};

/** What the outcomes are called. */
export const outcomes: Record<keyof UsageCounts, string> = {
  served: "Served",
  refused: "Over a limit",
  errors: "Errors",
};

const none: UsageCounts = { served: 0, refused: 0, errors: 0 };

/** The sum of some counts. */
export const sumOf = (counts: ReadonlyArray<UsageCounts>): UsageCounts => counts.reduce(addUsage, none);

/** The sum of a day, of all groups or of one. */
export const daySum = ({ groups: counts }: UsageDay, group: UsageGroup | null = null): UsageCounts =>
  sumOf(group === null ? counts : counts.filter((count) => count.group === group));

export const requestsOf = ({ served, refused, errors }: UsageCounts): number => served + refused + errors;
