/**
 * One read of a session as a stream of events.
 */
import { Clock, Effect, Stream } from "effect";
import type { Millis } from "../link.ts";
import type { SessionRead } from "../services/session_reads.ts";
import type { SessionEvent } from "../services/verification_sessions.ts";
import { isFinal, type VerificationSession } from "../verification_session.ts";

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
  session: VerificationSession,
  until: Millis,
  lastEventId: string | null,
): Stream.Stream<SessionEvent> => {
  const isKnown = String(session.change) === lastEventId && !isFinal(session.state);
  const first: Told = isKnown ? [{ event: "idle" }, session] : toldOf(read, session);

  const tellNext = Effect.fnUntraced(function* (known: VerificationSession) {
    const silentUntil = (yield* Clock.currentTimeMillis) + idleInterval;
    // A client whose stream ends comes back, which is what it has to do when the store is down.
    const next = yield* read
      .next(known, Math.min(until, silentUntil))
      .pipe(Effect.catch(() => Effect.succeed("ended" as const)));
    if (next === "waited" && silentUntil < until) return [{ event: "idle" }, known] satisfies Told;
    if (next === "waited" || next === "ended") return [{ event: "timeout" }, null] satisfies Told;
    return toldOf(read, next);
  });

  return Stream.unfold<VerificationSession | null | "begun", SessionEvent, never, never>("begun", (known) => {
    if (known === null) return Effect.undefined;
    return known === "begun" ? Effect.succeed(first) : tellNext(known);
  });
};

const toldOf = ({ pollsRemaining }: SessionRead, session: VerificationSession): Told => {
  const shown = { ...session, pollsRemaining };
  return session.state === "pending" || session.state === "opened"
    ? [{ event: "session", session: shown }, session]
    : [{ event: session.state, session: shown }, null];
};
