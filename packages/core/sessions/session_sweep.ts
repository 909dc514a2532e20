/**
 * Expires sessions past their deadline, and deletes old records.
 */
import { Clock, Effect, Schedule } from "effect";
import { warnOnce } from "../telemetry/warn_once.ts";
import { dayMs } from "../timestamp.ts";
import { SessionSettings } from "./session_settings.ts";
import { SessionStore } from "./session_store.ts";
import { SessionWatch } from "./session_watch.ts";

/** How long a session is kept after its deadline, in milliseconds. */
export const keptAfterExpiry = dayMs;

/** In milliseconds. */
const sweepInterval = 10_000;

export const sweepForever = Effect.gen(function* () {
  const store = yield* SessionStore;
  const watch = yield* SessionWatch;
  const { sightingRetention } = yield* SessionSettings;
  const sweep = yield* warnOnce(
    "Cannot sweep verification sessions",
    Effect.gen(function* () {
      const at = yield* Clock.currentTimeMillis;
      const expired = yield* store.sweep({
        at,
        sessionsBefore: at - keptAfterExpiry,
        sightingsBefore: at - sightingRetention,
      });
      yield* watch.announce(expired);
    }),
  );
  yield* Effect.repeat(sweep, Schedule.spaced(sweepInterval));
});
