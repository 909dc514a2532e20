/**
 * The port for verification sessions. A session has one final state: of all operations that race for it one takes it,
 * and the others are told which it is.
 */
import { Context, type Effect, type Option } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, FlowId, GameId, Pid, SessionId } from "../ids.ts";
import type { Link, Millis } from "../link.ts";
import type { ProtectedAddress, Sighting } from "../sighting.ts";
import type { SessionStep, VerificationSession } from "../verification_session.ts";
import type { WriteContext } from "./link_store.ts";

/** How many sessions a key may create at once, and how long until it may create one more. */
export interface CreationBurst {
  /** A positive integer. */
  readonly capacity: number;
  /** In milliseconds, positive. */
  readonly refillMs: number;
}

export interface CreateSession {
  readonly session: VerificationSession;
  /** Null for any number of sessions. */
  readonly burst: CreationBurst | null;
}

/** `TooMany`: nothing was stored or counted; one more can be created at `readyAt`. */
export type SessionCreated =
  | { readonly _tag: "Created" }
  | { readonly _tag: "TooMany"; readonly readyAt: Millis };

export interface AdvanceSession {
  readonly id: SessionId;
  readonly to: SessionStep;
  readonly at: Millis;
}

/** The session as it is now, and whether this very operation changed it. */
export interface SessionAdvanced {
  readonly session: VerificationSession;
  readonly changed: boolean;
}

/** The time of a sweep, and before which times it forgets. */
export interface SweepSessions {
  readonly at: Millis;
  /** By their deadline. */
  readonly sessionsBefore: Millis;
  /** By when the chat user was last seen at the address. */
  readonly sightingsBefore: Millis;
}

/** What a browser confirms: both accounts that it has proven to have. */
export interface CompleteFlow extends WriteContext {
  readonly flow: FlowId;
  readonly chatId: ChatId;
  readonly gameId: GameId;
  /** Where the chat user was seen, stored as a sighting; null where addresses are not kept. */
  readonly address: ProtectedAddress | null;
}

/**
 * `Completed`: the link is stored, the flow is used up, and its session, if it has one, is `completed`.
 * `FlowGone`: the flow is used up or over, its session is gone, or it holds other proofs than these in this scope; or
 * its session is for another chat user.
 * `SessionOver`: its session was final, or its deadline has passed; told before what is wrong with the proofs.
 * `LinkChanged`: the record is not the one that the user has seen, or a removal took the proofs.
 * Only the first changes anything.
 */
export type FlowCompleted =
  | {
      readonly _tag: "Completed";
      readonly record: Link;
      readonly previousGameId: GameId | null;
      readonly session: VerificationSession | null;
    }
  | { readonly _tag: "FlowGone" }
  | { readonly _tag: "SessionOver"; readonly session: VerificationSession }
  | { readonly _tag: "LinkChanged" };

/**
 * Where sessions live. Every operation is atomic. A scope or key that does not exist, a session id that is taken, and text
 * that `isStorable` refuses are defects.
 *
 * The removal of a link ends every unfinished session of the chat user (asked for in the session, or proven in a flow
 * of it) as `failed`, and a deletion every one of the scope; both are operations of `LinkStore`.
 */
export class SessionStore extends Context.Service<
  SessionStore,
  {
    readonly create: (write: CreateSession) => Effect.Effect<SessionCreated, StoreUnavailable>;

    readonly find: (id: SessionId) => Effect.Effect<Option.Option<VerificationSession>, StoreUnavailable>;

    /**
     * The sessions that changed at or after a time, by the times that the writes were given. A write may show up as much
     * later as it took. One that was only created has not changed.
     *
     * @param among a few of which to look for; null for all sessions
     */
    readonly changedSince: (
      at: Millis,
      among: ReadonlyArray<SessionId> | null,
    ) => Effect.Effect<ReadonlyArray<SessionId>, StoreUnavailable>;

    /** Takes a session one state on, where `canAdvance` lets it. None for an unknown session. */
    readonly advance: (
      write: AdvanceSession,
    ) => Effect.Effect<Option.Option<SessionAdvanced>, StoreUnavailable>;

    /**
     * Stores the link that a flow proves, with its sighting and audit entry, uses the flow up and completes its
     * session.
     */
    readonly complete: (write: CompleteFlow) => Effect.Effect<FlowCompleted, StoreUnavailable>;

    /** Stores where chat users of a scope were seen. Of several times at one address only the last is kept. */
    readonly recordSightings: (
      pid: Pid,
      sightings: ReadonlyArray<Sighting>,
    ) => Effect.Effect<void, StoreUnavailable>;

    /**
     * Makes every unfinished session whose deadline has passed `expired` and gives their ids; removes the final ones
     * and the sightings that it is to forget, and the flows that are over with their challenges. It is made of small
     * steps, each atomic, and leaves what somebody else is just changing to the next sweep.
     */
    readonly sweep: (sweep: SweepSessions) => Effect.Effect<ReadonlyArray<SessionId>, StoreUnavailable>;
  }
>()("@accountlink/core/SessionStore") {}
