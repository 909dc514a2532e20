/** Rate limits, quotas and their counters. */
export * from "./count_ledger.ts";
export * from "./counters.ts";
export * from "./quota.ts";
export {
  type Allowance,
  type LimitDecision,
  type LimitReport,
  type Requester,
  RequestLimits,
  secondsUntil,
} from "./request_limits.ts";
export * as ResilientCounters from "./resilient_counters.ts";
