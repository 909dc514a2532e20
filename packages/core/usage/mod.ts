/** Counts and stores the usage of API keys. */
export {
  addUsage,
  byTimeAndGroup,
  type KeyUsage,
  type UsageCounts,
  type UsageGroup,
  type UsageOutcome,
  type UsagePeriod,
  usageGroups,
} from "./usage.ts";
export * from "./usage_days.ts";
export { UsageMeter } from "./usage_meter.ts";
export * from "./usage_store.ts";
