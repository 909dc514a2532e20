/** In a verification session, a user proves a chat account and a game account to a client. */

import { Context, type Effect, Option, Schema, Struct } from "effect";
import type { ProtectedAddress, Sighting } from "../addresses/sighting.ts";
import type { WriteContext } from "../audit/audit.ts";
import type { Conflict, StoreEffect } from "../errors.ts";
import type { Keyed } from "../idempotency/idempotency_store.ts";
import { ChatId, type FlowId, GameId, GuildId, KeyId, Pid, SessionId } from "../ids.ts";
import { type GameProof, gameProofs } from "../links/link_proof.ts";
import { type RecordOf, recordType } from "../records/record_type.ts";
import type { StoredCode } from "../secrets/session_code.ts";
import type { Millis } from "../timestamp.ts";

const openStates = ["pending", "opened"] as const;
const finalStates = ["completed", "failed", "cancelled", "expired"] as const;

/** `pending` until the user starts to prove the chat account, then `opened`. The other four states are final. */
export type SessionState = (typeof openStates | typeof finalStates)[number];

/** The greatest length of a `clientId` in characters. @internal */
export const longestClientId = 128;

const isOpen = { field: "state", values: openStates } as const;

/** @internal */
export const verificationSessions = recordType({
  name: "verification_sessions",
  fields: {
    id: SessionId,
    /** The key that created the session. No other key can read it. */
    keyId: KeyId,
    pid: Pid,
    /** The client's own name for its user, 1 to `longestClientId` characters. */
    clientId: Schema.String,
    guildId: Schema.NullOr(GuildId),
    /** The only chat user who may complete the session, or who completed it; null if anyone may complete it. */
    chatId: Schema.NullOr(ChatId),
    /** The only game user that the session may link, or that it linked; null if it may link any. */
    gameId: Schema.NullOr(GameId),
    /** Where the browser goes after the flow; null for the service's own page. */
    redirect: Schema.NullOr(Schema.String),
    state: Schema.Literals([...openStates, ...finalStates]),
    /** Whether the completion changed the stored link. */
    linkChanged: Schema.Boolean,
    /** The game user that was linked before the completion. */
    previousGameId: Schema.NullOr(GameId),
    /** How the linked game account was proven; null until completed, and if the user kept their link. */
    proof: Schema.NullOr(Schema.Literals(gameProofs)),
    /** `link_removed`: the user's link or its whole scope was removed. */
    error: Schema.NullOr(Schema.Literal("link_removed")),
    createdAt: Schema.Int,
    expiresAt: Schema.Int,
    /** Null unless the state is `completed`. */
    completedAt: Schema.NullOr(Schema.Int),
    /** Starts at 1 and increases with every change. */
    change: Schema.Int,
    /** The time of the last change; null before the first. */
    changedAt: Schema.NullOr(Schema.Int),
    /** Null without a code, as `sealedSid` is. */
    codeHash: Schema.NullOr(Schema.String),
    sealedSid: Schema.NullOr(Schema.String),
  },
  columns: { id: "sid" },
  key: ["id"],
  indexes: {
    byCode: { fields: ["codeHash", "id"] },
    openByCode: { fields: ["codeHash", "id"], only: isOpen, group: 1, isUnique: true },
    open: { fields: ["pid", "id"], only: isOpen, group: 1 },
    openByUser: { fields: ["pid", "chatId", "id"], only: isOpen, group: 2 },
    openByEnd: { fields: ["expiresAt", "id"], only: isOpen },
    finalByEnd: { fields: ["expiresAt", "id"], only: { field: "state", values: finalStates } },
    byUser: { fields: ["chatId", "id"], group: 1 },
    ofKey: { fields: ["keyId", "id"], group: 1 },
    changed: { fields: ["changedAt", "id"] },
  },
  download: {
    index: "byUser",
    as: "sessions",
    fields: [
      "pid",
      "keyId",
      "clientId",
      "guildId",
      "chatId",
      "gameId",
      "redirect",
      "state",
      "linkChanged",
      "previousGameId",
      "proof",
      "error",
      "createdAt",
      "expiresAt",
      "completedAt",
      "change",
    ],
  },
});

/** @internal */
export type SessionRecord = RecordOf<typeof verificationSessions>;

/** When a key may again create a full burst of sessions. @internal */
export const sessionBursts = recordType({
  name: "session_bursts",
  fields: { keyId: KeyId, fullAt: Schema.Int },
  key: ["keyId"],
  indexes: {},
});

export interface VerificationSession extends Omit<SessionRecord, "changedAt" | "codeHash" | "sealedSid"> {}

/** @internal */
export const sessionOf = (record: SessionRecord): VerificationSession =>
  Struct.omit(record, ["changedAt", "codeHash", "sealedSid"]);

/** @internal */
export const isFinal = (state: SessionState): state is (typeof finalStates)[number] =>
  state !== "pending" && state !== "opened";

/** The states that `SessionStore.advance` sets. */
export type SessionStep = "opened" | "cancelled" | "expired";

/** Returns whether a session can be completed: its state is not final, and its deadline has not passed. @internal */
export const isOpenAt = ({ state, expiresAt }: VerificationSession, at: Millis): boolean =>
  !isFinal(state) && at < expiresAt;

/**
 * Returns whether a session can advance. `opened` follows `pending`, and `cancelled` follows `pending` or `opened`,
 * both before the deadline. `expired` follows `pending` or `opened`, from the deadline on. @internal
 */
export const canAdvance = (session: VerificationSession, to: SessionStep, at: Millis): boolean => {
  if (to === "expired") return !isFinal(session.state) && at >= session.expiresAt;
  return isOpenAt(session, at) && (to === "cancelled" || session.state === "pending");
};

/** Returns a copy of the session in the state `to`, which `canAdvance` must allow. @internal */
export const advancedSession = <S extends VerificationSession>(session: S, to: SessionStep): S => ({
  ...session,
  state: to,
  change: session.change + 1,
});

/** The token bucket of a key's session creations. */
export interface CreationBurst {
  /** Sessions that can be created at once; a positive integer. */
  readonly capacity: number;
  /** Time until another session can be created, in milliseconds; positive. */
  readonly refillMs: number;
}

export interface CreateSession extends Keyed {
  readonly session: VerificationSession;
  /** The limit of the key's session creations; null for no limit. */
  readonly burst: CreationBurst | null;
  /** The code that finds the session while it is open; omitted for a session without a code. */
  readonly code?: StoredCode;
}

/**
 * `TooMany`: the next session can be created at `readyAt`. `CodeTaken`: an open session has the code. In both cases,
 * nothing is stored and nothing is counted.
 */
export type SessionCreated =
  | { readonly _tag: "Created" }
  | { readonly _tag: "CodeTaken" }
  | { readonly _tag: "TooMany"; readonly readyAt: Millis };

/** Returns what a store keeps of a creation under an idempotency key; null for a refusal. @internal */
export const keptCreation = (
  { _tag }: SessionCreated,
  { session }: CreateSession,
): VerificationSession | null => (_tag === "Created" ? session : null);

export interface AdvanceSession extends Keyed {
  readonly id: SessionId;
  readonly to: SessionStep;
  readonly at: Millis;
}

/** The session after the operation, and whether this operation changed it. */
export interface SessionAdvanced {
  readonly session: VerificationSession;
  readonly changed: boolean;
}

/** Returns what a store keeps of a change under an idempotency key; null for a refusal. @internal */
export const keptAdvance = (advanced: Option.Option<SessionAdvanced>): VerificationSession | null =>
  Option.isSome(advanced) && advanced.value.changed ? advanced.value.session : null;

/** The time of a sweep, and the times before which records are deleted. */
export interface SweepSessions {
  readonly at: Millis;
  /** Final sessions whose deadline is before this time are deleted. */
  readonly sessionsBefore: Millis;
  /** A sighting is deleted if its user was last seen at the address or in the browser before this time. */
  readonly sightingsBefore: Millis;
}

/** The two proven accounts that a browser confirms. */
export interface CompleteFlow extends WriteContext {
  readonly flow: FlowId;
  readonly chatId: ChatId;
  readonly gameId: GameId;
  /** How the flow proved the game account. */
  readonly proof: GameProof;
  /** The address of the chat user, stored as a sighting; null to store none. */
  readonly address: ProtectedAddress | null;
  /** The hash of the user's browser, stored as a sighting; null to store none. */
  readonly browser: string | null;
  /** The hash of the chat user's block, as in `SetGame`. */
  readonly chatHash?: Effect.Effect<string>;
  /** Whether the chat user keeps their existing link. If so, no new link and no sighting is stored. */
  readonly keeps?: boolean;
  /**
   * Whether other chat users lose the game account, if the scope allows one chat user for each. With a chat user, only if
   * this is the newest who has it.
   */
  readonly moves?: boolean | ChatId;
}

/** A chat user whose link moved to another one, and the sessions that failed with it. */
export interface LinkLost {
  readonly chatId: ChatId;
  readonly ended: ReadonlyArray<SessionId>;
}

/**
 * The result of `SessionStore.complete`. Only `Completed` changes anything in the store.
 *
 * - `Completed`: the link is stored or kept, the flow is deleted, and its session, if it has one, is `completed`.
 *   `gameId` is the linked game user, and equals `previousGameId` if the link is kept. `losers` lost their links to it.
 * - `FlowGone`: the flow was completed or has expired, its session was deleted or is for another chat or game user, or
 *   the flow does not hold these proofs in this scope.
 * - `SessionOver`: the session is final or past its deadline. Reported before problems with proofs.
 * - `LinkChanged`: the record changed since the user saw it, has no link to keep, or a removal voided the proofs.
 * - `Blocked`: `BlockStore` has one of the users.
 * - `Taken`: another chat user has the game account, and the scope allows one.
 */
export type FlowCompleted =
  | {
      readonly _tag: "Completed";
      readonly gameId: GameId;
      readonly previousGameId: GameId | null;
      readonly losers: ReadonlyArray<LinkLost>;
    }
  | { readonly _tag: "FlowGone" }
  | { readonly _tag: "SessionOver"; readonly session: VerificationSession }
  | { readonly _tag: "LinkChanged" }
  | { readonly _tag: "Blocked" }
  | { readonly _tag: "Taken" };

/**
 * Stores verification sessions. A session reaches one final state: one of several racing operations wins, and the
 * others get the state that it set. Every operation is atomic. An unknown scope or key, an existing session id, and
 * text that `isStorable` refuses are defects.
 *
 * `LinkStore.removeGame` sets every open session of the chat user (named by the session, or proven in one of its flows)
 * to `failed`, or after its deadline to `expired`, and `LinkStore.deleteScope` every open session of the scope.
 */
export class SessionStore extends Context.Service<
  SessionStore,
  {
    readonly create: (write: CreateSession) => StoreEffect<SessionCreated, Conflict>;

    readonly find: (id: SessionId) => StoreEffect<Option.Option<VerificationSession>>;

    /**
     * Returns the encrypted sid of the session that has this code and is open at the time `at`; a null sid if all sessions
     * with the code have ended, and null without any.
     */
    readonly findByCode: (
      codeHash: string,
      at: Millis,
    ) => StoreEffect<{ readonly sealedSid: string | null } | null>;

    /**
     * Returns the sessions that changed at or after the time `at`. Creation is not a change. A change may be committed
     * later than the time that is stored for it. So each call must look back to a time before the previous call.
     *
     * @param among the sessions to look for; null for all
     */
    readonly changedSince: (
      at: Millis,
      among: ReadonlyArray<SessionId> | null,
    ) => StoreEffect<ReadonlyArray<SessionId>>;

    /** Moves a session to another state if `canAdvance` allows it. None for an unknown session. */
    readonly advance: (write: AdvanceSession) => StoreEffect<Option.Option<SessionAdvanced>, Conflict>;

    /** Stores the link of a flow with its sightings and audit entry, and completes its session. */
    readonly complete: (write: CompleteFlow) => StoreEffect<FlowCompleted>;

    /**
     * Stores sightings in a scope. If the user was seen before at the same address or in the same browser, only the
     * latest time is kept.
     */
    readonly recordSightings: (pid: Pid, sightings: ReadonlyArray<Sighting>) => StoreEffect<void>;

    /**
     * Sets open sessions past their deadline to `expired` and returns their ids. Deletes old final sessions, old
     * sightings, and expired flows with their challenges. It works in small atomic steps, and leaves sessions that
     * another operation is changing to the next sweep.
     */
    readonly sweep: (sweep: SweepSessions) => StoreEffect<ReadonlyArray<SessionId>>;
  }
>()("@accountlink/core/SessionStore") {}
