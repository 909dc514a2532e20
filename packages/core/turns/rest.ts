/** Pauses between steps, so that work which repeats its steps leaves the process to others. */
import { Effect } from "effect";
import { monotonicMillis } from "../monotonic_millis.ts";

/**
 * Pauses for as long as a step took.
 *
 * @param began when the step began, by `monotonicMillis`
 * @param longest the longest pause, in milliseconds
 * @param options.shortest the shortest pause, in milliseconds
 * @internal
 */
export const restSince = (
  began: number,
  longest: number,
  { shortest = 0 }: { readonly shortest?: number } = {},
): Effect.Effect<void> =>
  Effect.flatMap(monotonicMillis, (now) => Effect.sleep(Math.min(longest, Math.max(shortest, now - began))));
