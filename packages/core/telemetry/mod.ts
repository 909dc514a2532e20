/** Tracing and metrics for adapters. */
export * from "./metric_reading.ts";
export * from "./tracing.ts";
