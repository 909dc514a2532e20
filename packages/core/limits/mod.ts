/** Rate limits, quotas and their counters. */
export * from "./counters.ts";
export * from "./day_counts.ts";
export * as FallbackCounters from "./fallback_counters.ts";
export * from "./quota.ts";
export {
  type Allowance,
  type LimitDecision,
  type LimitReport,
  type Requester,
  RequestLimits,
  secondsUntil,
} from "./request_limits.ts";
