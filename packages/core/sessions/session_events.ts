import { Effect, Stream } from "effect";
import type { Sid } from "../ids.ts";
import { monotonicMillis } from "../monotonic_millis.ts";
import type { Millis } from "../timestamp.ts";
import type { SessionRead } from "./session_reads.ts";
import type { SessionState, VerificationSession } from "./session_store.ts";

/** A session as its client receives it: with its `sid`, its code and the number of reads left. */
export interface ReadSession extends VerificationSession {
  readonly sid: Sid;
  /** A short code such as `BCDF-GHJK`, for users who cannot open a link. */
  readonly code: string;
  /** The number of reads left; null for no limit. */
  readonly pollsRemaining: number | null;
}

/**
 * A stream ends with `timeout` or a final state. `idle` is sent after every 10 seconds without a change, and as the
 * first event if the client already knows the current state.
 */
export type SessionEvent =
  | { readonly event: "session"; readonly session: ReadSession }
  | { readonly event: Exclude<SessionState, "pending" | "opened">; readonly session: ReadSession }
  | { readonly event: "idle" }
  | { readonly event: "timeout" };

/** After this many milliseconds without a change, an `idle` event is sent. */
const idleInterval = 10_000;

/** An event, and the session state that the client knows after it. `known` is null if the event is the last one. */
type Step = readonly [event: SessionEvent, known: VerificationSession | null];

/**
 * Streams the state of a session and its changes.
 *
 * @param until when the stream ends, by `monotonicMillis`, unless the session reaches a final state before
 * @param lastEventId the change that the client already knows, or null
 */
export const sessionEvents = (
  read: SessionRead,
  named: Pick<ReadSession, "sid" | "code">,
  until: Millis,
  lastEventId: string | null,
): Stream.Stream<SessionEvent> => {
  const { session } = read;
  const stateStep = (current: VerificationSession): Step => {
    const view = { ...current, ...named, pollsRemaining: read.pollsRemaining };
    return current.state === "pending" || current.state === "opened"
      ? [{ event: "session", session: view }, current]
      : [{ event: current.state, session: view }, null];
  };

  const nextStep = Effect.fnUntraced(function* (known: VerificationSession) {
    const idleAt = (yield* monotonicMillis) + idleInterval;
    // If the store is down, the stream ends and the client reconnects.
    const next = yield* read
      .next(known, Math.min(until, idleAt))
      .pipe(Effect.catch(() => Effect.succeed("ended" as const)));
    if (next === "timeout" && idleAt < until) return [{ event: "idle" }, known] satisfies Step;
    if (next === "timeout" || next === "ended") return [{ event: "timeout" }, null] satisfies Step;
    return stateStep(next);
  });

  const first: Step = isKnown(session, lastEventId) ? [{ event: "idle" }, session] : stateStep(session);
  // A single `unfold` needs less memory than several streams in a `concat`, because each stage of an open stream uses
  // kilobytes.
  return Stream.unfold<VerificationSession | null | "start", SessionEvent, never, never>("start", (known) => {
    if (known === "start") return Effect.succeed(first);
    return known === null ? Effect.undefined : nextStep(known);
  });
};

/** Returns whether the client already knows the current state, because it has received the event `lastEventId`. */
export const isKnown = ({ change }: VerificationSession, lastEventId: string | null): boolean =>
  String(change) === lastEventId;
