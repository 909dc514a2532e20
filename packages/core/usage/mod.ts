/** Counts and stores the usage of API keys. */

export { UsageMeter } from "./usage_meter.ts";
export * from "./usage_store.ts";
