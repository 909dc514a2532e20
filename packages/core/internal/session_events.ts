/**
 * One read of a session as a stream of events.
 */
import { Clock, Effect, Stream } from "effect";
import type { Sid } from "../ids.ts";
import type { Millis } from "../link.ts";
import type { SessionRead } from "../services/session_reads.ts";
import type { SessionEvent } from "../services/verification_sessions.ts";
import type { VerificationSession } from "../verification_session.ts";

/** After how much silence a stream says that nothing has happened, in milliseconds. */
const idleInterval = 10_000;

/** An event, and the session as its receiver knows it then; null when that was the last. */
type Told = readonly [event: SessionEvent, known: VerificationSession | null];

/**
 * Tells what becomes of a session.
 *
 * @param session as it is at first
 * @param until when the stream ends, if nothing final has happened
 * @param lastEventId the change that the receiver knows already, or null
 */
export const sessionEvents = (
  read: SessionRead,
  sid: Sid,
  session: VerificationSession,
  until: Millis,
  lastEventId: string | null,
): Stream.Stream<SessionEvent> => {
  const toldOf = (present: VerificationSession): Told => {
    const shown = { ...present, sid, pollsRemaining: read.pollsRemaining };
    return present.state === "pending" || present.state === "opened"
      ? [{ event: "session", session: shown }, present]
      : [{ event: present.state, session: shown }, null];
  };
  const first: Told = isKnown(session, lastEventId) ? [{ event: "idle" }, session] : toldOf(session);

  const tellNext = Effect.fnUntraced(function* (known: VerificationSession) {
    const silentUntil = (yield* Clock.currentTimeMillis) + idleInterval;
    // A client whose stream ends comes back, which is what it has to do when the store is down.
    const next = yield* read
      .next(known, Math.min(until, silentUntil))
      .pipe(Effect.catch(() => Effect.succeed("ended" as const)));
    if (next === "waited" && silentUntil < until) return [{ event: "idle" }, known] satisfies Told;
    if (next === "waited" || next === "ended") return [{ event: "timeout" }, null] satisfies Told;
    return toldOf(next);
  });

  return Stream.unfold<VerificationSession | null | "begun", SessionEvent, never, never>("begun", (known) => {
    if (known === null) return Effect.undefined;
    return known === "begun" ? Effect.succeed(first) : tellNext(known);
  });
};

/** Whether the receiver of a last event has been told of the session as it is. */
export const isKnown = ({ change }: VerificationSession, lastEventId: string | null): boolean =>
  String(change) === lastEventId;
