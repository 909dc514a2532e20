/** Pauses between steps, so that work which repeats its steps leaves the process to others. */
import { Effect } from "effect";
import { monotonicMillis } from "../monotonic_millis.ts";
import { bounds } from "./bounds.ts";

/**
 * Pauses for as long as a step took.
 *
 * @param took how long the step took, in milliseconds
 * @param shortest the shortest pause, in milliseconds
 * @internal
 */
export const restAfter = (took: number, shortest = 0): Effect.Effect<void> =>
  Effect.sleep(Math.min(bounds.workedAtOnce, Math.max(shortest, took)));

/** Runs a step, and pauses for as long as it took, so that steps take half of the process at most. @internal */
export const stepAndRest = <A, E, R>(step: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(monotonicMillis, (began) =>
    Effect.tap(step, () => Effect.flatMap(monotonicMillis, (now) => restAfter(now - began))),
  );
