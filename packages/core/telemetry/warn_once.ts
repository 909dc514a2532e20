import { Cause, Clock, type Duration, Effect, Schedule } from "effect";
import type { Millis } from "../timestamp.ts";

/**
 * Ignores failures of a repeated effect, and defects and interruptions of a store. Logs the first of a series, and the next
 * success. An interruption of the caller ends it, since it passes by every handler.
 */
export const warnOnce = <E, R>(problem: string, effect: Effect.Effect<unknown, E, R>) =>
  Effect.map(warningOnce(problem), (warning) => warning(effect));

/** Returns a function that does for a series of effects what `warnOnce` does for one that is repeated. */
export const warningOnce = (problem: string) =>
  Effect.sync(() => {
    let isFailing = false;
    return <E, R>(effect: Effect.Effect<unknown, E, R>) =>
      Effect.matchCauseEffect(effect, {
        onSuccess: () => {
          if (!isFailing) return Effect.void;
          isFailing = false;
          return Effect.annotateLogs(Effect.logInfo("This works again"), { problem });
        },
        onFailure: (cause) => {
          if (isFailing) return Effect.void;
          isFailing = true;
          return Effect.annotateLogs(Effect.logWarning(problem), { cause: Cause.pretty(cause) });
        },
      });
  });

/** Runs a sweep in the background, at once and after each interval, until the scope closes. */
export const sweepEvery = <E, R>(
  interval: Duration.Input,
  problem: string,
  sweep: (now: Millis) => Effect.Effect<unknown, E, R>,
) =>
  warnOnce(problem, Effect.flatMap(Clock.currentTimeMillis, sweep)).pipe(
    Effect.flatMap(Effect.repeat(Schedule.spaced(interval))),
    Effect.forkScoped,
  );
