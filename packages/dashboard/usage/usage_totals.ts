/**
 * Usage of an account or a key, added up.
 */

/** Requests of one day, by group of routes. */
export interface UsageDay {
  /** A UTC day, such as `2026-01-31`. */
  readonly day: string;
  readonly groups: ReadonlyArray<GroupUsage>;
}

interface GroupUsage extends Outcomes {
  readonly group: RouteGroup;
}

/** Groups of routes. */
export type RouteGroup = "lookup" | "bulk" | "write" | "alts" | "session";

/** How requests were answered. */
export interface Outcomes {
  readonly served: number;
  /** Over a limit. */
  readonly refused: number;
  readonly errors: number;
}

/** What the groups of routes are called. */
export const groups: Record<RouteGroup, string> = {
  lookup: "Look-ups",
  bulk: "Bulk",
  write: "Writes",
  alts: "Alts",
  session: "Sessions",
};

/** What the outcomes are called. */
export const outcomes: Record<keyof Outcomes, string> = {
  served: "Served",
  refused: "Over a limit",
  errors: "Errors",
};

const none: Outcomes = { served: 0, refused: 0, errors: 0 };

/** The sum of some counts. */
export const sumOf = (counts: ReadonlyArray<Outcomes>): Outcomes =>
  counts.reduce(
    (sum, { served, refused, errors }) => ({
      served: sum.served + served,
      refused: sum.refused + refused,
      errors: sum.errors + errors,
    }),
    none,
  );

/** The sum of a day, of all groups or of one. */
export const daySum = ({ groups: counts }: UsageDay, group: RouteGroup | null = null): Outcomes =>
  sumOf(group === null ? counts : counts.filter((count) => count.group === group));

export const requestsOf = ({ served, refused, errors }: Outcomes): number => served + refused + errors;
