/** Tracing and metrics for adapters. @internal */
export * from "./metric_reading.ts";
export * from "./tracing.ts";
