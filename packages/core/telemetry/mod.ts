/** Tracing, metrics and warnings for adapters. @internal */
export * from "./metric_reading.ts";
export * from "./tracing.ts";
export { sweepEvery, warnOnce } from "./warn_once.ts";
