/** Rate limits, quotas and their counters. */
export * from "./counters.ts";
export * as FallbackCounters from "./fallback_counters.ts";
export * from "./quota.ts";
export * from "./request_limits.ts";
