import { Effect } from "effect";
import { sweepEvery } from "../telemetry/warn_once.ts";
import { dayMs, type Millis } from "../timestamp.ts";
import { SessionSettings } from "./session_settings.ts";
import { SessionStore } from "./session_store.ts";
import { SessionWatch } from "./session_watch.ts";

/** How long a session is kept after its deadline, in milliseconds. */
export const keptAfterExpiry = dayMs;

export const sweepForever = Effect.gen(function* () {
  const store = yield* SessionStore;
  const watch = yield* SessionWatch;
  const { sightingRetention } = yield* SessionSettings;
  const sweep = Effect.fnUntraced(function* (at: Millis) {
    const expired = yield* store.sweep({
      at,
      sessionsBefore: at - keptAfterExpiry,
      sightingsBefore: at - sightingRetention,
    });
    yield* watch.announce(expired);
  });
  yield* sweepEvery("10 seconds", "Cannot sweep verification sessions", sweep);
});
