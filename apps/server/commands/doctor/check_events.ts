/** Checks how old the oldest event of the feeds is, which servers delete. */
import { dayMs } from "@accountlink/core/timestamp";
import { Clock, Effect } from "effect";
import type { Config } from "../../config/config.ts";
import { ok, warn } from "./finding.ts";

/** @param state the state of the storage; null if it could not be read or does not exist yet */
export const checkEvents = Effect.fnUntraced(function* (
  { ACCOUNTLINK_EVENT_RETENTION: retention }: Config,
  state: { readonly oldestEvent: number | null } | null,
) {
  if (state === null) return [];
  if (state.oldestEvent === null) return [ok("events", "there are none yet")];
  const age = Math.max(0, (yield* Clock.currentTimeMillis) - state.oldestEvent);
  const finding = `the oldest is ${(age / dayMs).toFixed(1)} days old, of ${retention / dayMs} that are kept`;
  return [
    age > retention + dayMs
      ? warn("events", finding, "See whether the server runs and logs: Cannot delete old events")
      : ok("events", finding),
  ];
});
