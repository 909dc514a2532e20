/** Counts and stores the usage of API keys. */
export * from "./usage.ts";
export * from "./usage_days.ts";
export { UsageMeter } from "./usage_meter.ts";
export * from "./usage_store.ts";
