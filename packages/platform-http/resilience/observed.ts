/**
 * Records the outcome and duration of attempts.
 */
import { Clock, Effect, Metric } from "effect";
import { platformRequests, platformSeconds } from "./metrics.ts";
import type { RequestFailed } from "./request_failed.ts";

/** Counts attempts by outcome, sent or not. Interrupted attempts are not counted. */
export const countingOutcome = (platform: string) => {
  const count = (outcome: "answered" | RequestFailed["reason"]) =>
    Metric.update(Metric.withAttributes(platformRequests, { platform, outcome }), 1);

  return <A, R>(attempt: Effect.Effect<A, RequestFailed, R>): Effect.Effect<A, RequestFailed, R> =>
    Effect.tapError(
      Effect.tap(attempt, () => count("answered")),
      ({ reason }) => count(reason),
    );
};

/** Measures the duration of attempts that were sent, whatever their outcome. */
export const timing = (platform: string) => {
  const histogram = Metric.withAttributes(platformSeconds, { platform });

  return <A, E, R>(attempt: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Clock.monotonicTimeNanos, (start) =>
      Effect.ensuring(
        attempt,
        Effect.flatMap(Clock.monotonicTimeNanos, (end) =>
          Metric.update(histogram, Number(end - start) / 1e9),
        ),
      ),
    );
};
