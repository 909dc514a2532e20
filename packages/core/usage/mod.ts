/** The usage of API keys: counting and the port that keeps it. */
export * from "./usage.ts";
export * from "./usage_days.ts";
export * from "./usage_meter.ts";
export * from "./usage_store.ts";
