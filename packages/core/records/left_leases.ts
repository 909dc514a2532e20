import type { Millis } from "../timestamp.ts";

/** The longest lease of a node, in milliseconds. The lease of an oldest node lasts 70 seconds. @internal */
export const longestLease = 120_000;

/**
 * Makes a function that returns whether a dead node left a lease while its clock was ahead: the lease ends later than any
 * can, and was the same for as long as the longest lasts. A live node whose clock is ahead renews its lease meanwhile.
 * @internal
 */
export const makeLeftLeases = () => {
  /** The leases that end later than any can, by name, and when this node saw them first. */
  const seen = new Map<string, { readonly until: Millis; readonly since: Millis }>();
  return (lease: string, until: Millis, at: Millis): boolean => {
    const before = seen.get(lease);
    if (until <= at + longestLease) seen.delete(lease);
    else if (before?.until === until) return at - before.since >= longestLease;
    else seen.set(lease, { until, since: at });
    return false;
  };
};
