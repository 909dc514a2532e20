/** Records the outcome and duration of attempts. */
import { Duration, Effect, Metric } from "effect";
import { platformRequests, platformSeconds } from "./metrics.ts";
import type { RequestFailed } from "./request_failed.ts";

/** Counts attempts by outcome, including attempts that were not sent, but no interrupted attempts. */
export const countingOutcome = (platform: string) => {
  const count = (outcome: "answered" | RequestFailed["reason"]) =>
    Metric.update(Metric.withAttributes(platformRequests, { platform, outcome }), 1);

  return <A, R>(attempt: Effect.Effect<A, RequestFailed, R>): Effect.Effect<A, RequestFailed, R> =>
    Effect.tapError(
      Effect.tap(attempt, () => count("answered")),
      ({ reason }) => count(reason),
    );
};

/** Measures the duration of sent attempts, whatever their outcome. */
export const timing = (platform: string) =>
  Effect.trackDuration(Metric.withAttributes(platformSeconds, { platform }), Duration.toSeconds);
