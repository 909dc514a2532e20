/** Metrics of platforms, and functions that record the outcome and the duration of attempts. */
import { Duration, Effect, Metric } from "effect";
import type { RequestFailed } from "./request_failed.ts";

/** Attempts by `platform` and `outcome`: `answered`, or the reason of the failure. */
export const platformRequests = Metric.counter("accountlink_platform_requests_total", {
  description: "Attempts to ask a platform, by outcome",
  incremental: true,
});

/** Seconds that attempts took, by `platform`. Attempts with the outcome `busy` or `circuit_open` are excluded. */
const platformSeconds = Metric.histogram("accountlink_platform_request_seconds", {
  description: "How long a platform takes to answer one attempt, in seconds",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
});

/** The state of the circuit breaker, by `platform`: 0 closed, 1 half-open, 2 open. */
export const platformCircuit = Metric.gauge("accountlink_platform_circuit_state", {
  description: "The circuit of a platform: 0 closed, 1 half-open, 2 open",
});

/** Cache lookups by `answer` and `result`: `hit`, `miss`, or `error` when the cache failed. */
export const platformCache = (attributes: {
  readonly answer: string;
  readonly result: "hit" | "miss" | "error";
}) =>
  Metric.counter("accountlink_platform_cache_total", {
    description: "Lookups of kept platform answers, by result",
    incremental: true,
    attributes,
  });

/** Counts attempts by outcome, even if they failed before they were sent. Interrupted attempts are not counted. */
export const countingOutcome = (platform: string) => {
  const count = (outcome: "answered" | RequestFailed["reason"]) =>
    Metric.update(Metric.withAttributes(platformRequests, { platform, outcome }), 1);

  return <A, R>(attempt: Effect.Effect<A, RequestFailed, R>): Effect.Effect<A, RequestFailed, R> =>
    Effect.tapError(
      Effect.tap(attempt, () => count("answered")),
      ({ reason }) => count(reason),
    );
};

/** Measures the duration of an attempt, whatever its outcome. */
export const timing = (platform: string) =>
  Effect.trackDuration(Metric.withAttributes(platformSeconds, { platform }), Duration.toSeconds);
