/** Tracing, metrics and warnings for adapters. @internal */
export * from "./metric_reading.ts";
export * from "./tracing.ts";
export { warningOnce, warnOnce } from "./warn_once.ts";
