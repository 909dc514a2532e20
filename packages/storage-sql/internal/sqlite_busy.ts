/** Waiting for another process that writes to the same file. */
import { setTimeout as pause } from "node:timers/promises";
import { Effect } from "effect";
import type { SqlError } from "effect/sql";
import { failWith, isBusy } from "./sqlite_error.ts";

/**
 * Tries `attempt` until no other process holds the lock, for `busyTimeout` milliseconds at most. The pauses are real
 * time: what they wait for does not live on the clock of the fiber.
 */
export function untilUnlocked<A>(
  busyTimeout: number,
  attempt: () => Effect.Effect<A, SqlError.SqlError>,
): Effect.Effect<A, SqlError.SqlError> {
  const attemptBefore = (deadline: number | undefined, wait: number): Effect.Effect<A, SqlError.SqlError> =>
    Effect.suspend(() => {
      try {
        return attempt();
      } catch (cause) {
        const now = performance.now();
        const end = deadline ?? now + busyTimeout;
        if (now >= end || !isBusy(cause)) return failWith(cause);
        return Effect.andThen(
          Effect.promise((signal) => pause(wait, undefined, { signal })),
          attemptBefore(end, Math.min(wait * 2, longestPause)),
        );
      }
    });
  return attemptBefore(undefined, 1);
}

/** In milliseconds. */
const longestPause = 25;
