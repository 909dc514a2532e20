/**
 * The port for verification sessions. A session reaches one final state: of racing operations one
 * wins, and the others get the state it set.
 */
import { Context, type Effect, type Option } from "effect";
import type { ProtectedAddress, Sighting } from "../addresses/sighting.ts";
import type { WriteContext } from "../audit/audit.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, FlowId, GameId, Pid, SessionId } from "../ids.ts";
import type { StoredCode } from "../secrets/session_code.ts";
import type { Millis } from "../timestamp.ts";
import type { SessionStep, VerificationSession } from "./session.ts";

/** The token bucket of session creations of a key. */
export interface CreationBurst {
  /** Sessions that can be created at once; a positive integer. */
  readonly capacity: number;
  /** Time until one more can be created, in milliseconds; positive. */
  readonly refillMs: number;
}

/**
 * Takes one creation from the token bucket of a key, which is kept as the time at which it is full.
 *
 * @param fullAt when the bucket is full again; undefined for a key without sessions
 * @returns when it is full after this creation; or, if it is empty, when the next can be created
 *
 * @example
 * ```ts
 * const burst = { capacity: 2, refillMs: 10_000 };
 * takeFromBurst(undefined, burst, 0); // { fullAt: 10000 }
 * takeFromBurst(10_000, burst, 0); // { fullAt: 20000 }
 * takeFromBurst(20_000, burst, 0); // { readyAt: 10000 }
 * ```
 */
export const takeFromBurst = (
  fullAt: Millis | undefined,
  { capacity, refillMs }: CreationBurst,
  at: Millis,
): { readonly fullAt: Millis } | { readonly readyAt: Millis } => {
  const from = Math.max(fullAt ?? at, at);
  const readyAt = from - (capacity - 1) * refillMs;
  return readyAt > at ? { readyAt } : { fullAt: from + refillMs };
};

export interface CreateSession {
  readonly session: VerificationSession;
  /** Null for no limit. */
  readonly burst: CreationBurst | null;
  /** The code that leads to the session while it is open. Without one when left out. */
  readonly code?: StoredCode;
}

/**
 * `TooMany`: nothing was stored or counted, and the next can be created at `readyAt`. `CodeTaken`: an
 * open session has the code, and nothing was stored or counted.
 */
export type SessionCreated =
  | { readonly _tag: "Created" }
  | { readonly _tag: "CodeTaken" }
  | { readonly _tag: "TooMany"; readonly readyAt: Millis };

export interface AdvanceSession {
  readonly id: SessionId;
  readonly to: SessionStep;
  readonly at: Millis;
}

/** The session after the operation, and whether this operation changed it. */
export interface SessionAdvanced {
  readonly session: VerificationSession;
  readonly changed: boolean;
}

/** The time of a sweep, and the times before which records are deleted. */
export interface SweepSessions {
  readonly at: Millis;
  /** Compared with the deadline of a session. */
  readonly sessionsBefore: Millis;
  /** Compared with when the chat user was last seen at the address, or in the browser. */
  readonly sightingsBefore: Millis;
}

/** The two proven accounts that a browser confirms. */
export interface CompleteFlow extends WriteContext {
  readonly flow: FlowId;
  readonly chatId: ChatId;
  readonly gameId: GameId;
  /** The address of the chat user, stored as a sighting; null to store none. */
  readonly address: ProtectedAddress | null;
  /** The hash of the user's browser, stored as a sighting; null to store none. */
  readonly browser: string | null;
  /** Whether the chat user keeps the link that they have: then neither link nor sighting is stored. */
  readonly keeps?: boolean;
}

/**
 * `Completed`: the link is stored or kept, the flow is deleted, and its session, if it has one, is
 * `completed`. `gameId` is that of the link, and the same as `previousGameId` where the link is kept.
 * `FlowGone`: the flow was completed or has expired, its session is gone or for another chat user,
 * or the flow does not hold these proofs in this scope.
 * `SessionOver`: the session is final or past its deadline. It is reported before problems with
 * proofs.
 * `LinkChanged`: the record changed since the user saw it, has no link to keep, or a removal voided the proofs. Only
 * the first changes anything.
 */
export type FlowCompleted =
  | { readonly _tag: "Completed"; readonly gameId: GameId; readonly previousGameId: GameId | null }
  | { readonly _tag: "FlowGone" }
  | { readonly _tag: "SessionOver"; readonly session: VerificationSession }
  | { readonly _tag: "LinkChanged" };

/**
 * Where sessions live. Every operation is atomic. An unknown scope or key, a session id that
 * exists, and text that `isStorable` refuses are defects.
 *
 * `LinkStore.removeGame` sets every open session of the chat user (named by the session, or proven
 * in one of its flows) to `failed`, and `LinkStore.deleteScope` every one of the scope.
 *
 * @example
 * ```ts
 * import { KeyId, Pid } from "@accountlink/core";
 * import { StorageMemory } from "@accountlink/memory";
 * import { Effect } from "effect";
 *
 * const program = Effect.gen(function* () {
 *   const store = yield* SessionStore;
 *   return yield* store.sweep({ at: 86_400_000, sessionsBefore: 0, sightingsBefore: 0 });
 * });
 * await Effect.runPromise(Effect.provide(program, StorageMemory.layer)); // []
 * ```
 */
export class SessionStore extends Context.Service<
  SessionStore,
  {
    readonly create: (write: CreateSession) => Effect.Effect<SessionCreated, StoreUnavailable>;

    readonly find: (id: SessionId) => Effect.Effect<Option.Option<VerificationSession>, StoreUnavailable>;

    /** The encrypted sid of the open session with a code. None for any other, and from its deadline on. */
    readonly findSealedSid: (
      codeHash: string,
      at: Millis,
    ) => Effect.Effect<Option.Option<string>, StoreUnavailable>;

    /**
     * The sessions that changed at or after a time. Creation is not a change. Compares the `at` of
     * writes, so a write that commits late appears late.
     *
     * @param among the sessions to look for; null for all
     */
    readonly changedSince: (
      at: Millis,
      among: ReadonlyArray<SessionId> | null,
    ) => Effect.Effect<ReadonlyArray<SessionId>, StoreUnavailable>;

    /** Moves a session to another state if `canAdvance` allows it. None for an unknown session. */
    readonly advance: (
      write: AdvanceSession,
    ) => Effect.Effect<Option.Option<SessionAdvanced>, StoreUnavailable>;

    /** Stores the link of a flow with its sightings and audit entry, and completes its session. */
    readonly complete: (write: CompleteFlow) => Effect.Effect<FlowCompleted, StoreUnavailable>;

    /** Stores sightings in a scope. For a user and an address or browser only the latest time is kept. */
    readonly recordSightings: (
      pid: Pid,
      sightings: ReadonlyArray<Sighting>,
    ) => Effect.Effect<void, StoreUnavailable>;

    /**
     * Sets open sessions past their deadline to `expired` and returns their ids. Deletes old final
     * sessions and sightings, and expired flows with their challenges. It works in small atomic
     * steps and leaves sessions that another operation is changing to the next sweep.
     */
    readonly sweep: (sweep: SweepSessions) => Effect.Effect<ReadonlyArray<SessionId>, StoreUnavailable>;
  }
>()("@accountlink/core/SessionStore") {}
