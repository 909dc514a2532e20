import { addUsage, type UsageCounts, type UsageDay, type UsageGroup } from "@accountlink/core/usage";

export const groups: Record<UsageGroup, string> = {
  lookup: "Lookups",
  bulk: "Bulk",
  write: "Writes",
  alts: "Alts",
  session: "Sessions",
};

export const outcomes: Record<keyof UsageCounts, string> = {
  served: "Served",
  refused: "Over a limit",
  errors: "Errors",
};

const none: UsageCounts = { served: 0, refused: 0, errors: 0 };

export const sumOf = (counts: ReadonlyArray<UsageCounts>): UsageCounts => counts.reduce(addUsage, none);

/** The counts of a day, summed over all groups, or only the counts of one group. */
export const daySum = ({ groups: counts }: UsageDay, group: UsageGroup | null = null): UsageCounts =>
  sumOf(group === null ? counts : counts.filter((count) => count.group === group));

export const requestsOf = ({ served, refused, errors }: UsageCounts): number => served + refused + errors;
