/** Waits for locks of other processes. */
import { setTimeout as pause } from "node:timers/promises";
import * as Immediate from "@accountlink/core/immediate";
import { Effect } from "effect";
import type { SqlError } from "effect/sql";
import { failWith, isBusy } from "./sql_error.ts";

/**
 * Retries `attempt` while another process holds the lock, for up to `busyTimeout` milliseconds. The
 * pauses are in real time, since the other process does not follow the `Clock`.
 */
export function retryWhileLocked<A>(
  busyTimeout: number,
  attempt: () => Effect.Effect<A, SqlError.SqlError>,
): Effect.Effect<A, SqlError.SqlError> {
  const attemptBefore = (deadline: number | undefined, wait: number): Effect.Effect<A, SqlError.SqlError> =>
    Immediate.withFiber(() => {
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
