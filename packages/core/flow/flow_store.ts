import { Context, type Option } from "effect";
import type { StoreEffect } from "../errors.ts";
import type { ChatId, FlowId, GameId } from "../ids.ts";
import type { LinkRecord } from "../links/link.ts";
import type { GameProof } from "../links/link_proof.ts";
import type { CompleteFlow, FlowCompleted } from "../sessions/session_store.ts";
import { isOpenAt, type VerificationSession } from "../sessions/session_store.ts";
import type { VerificationFlow } from "../sessions/verification_flow.ts";
import type { Millis } from "../timestamp.ts";

export type { VerificationFlow } from "../sessions/verification_flow.ts";

export type ProofStep = "chat" | "game";

/**
 * Returns whether the flow lost its proofs because a link was removed, and no account has been proven since. @internal
 */
export const isVoided = ({ chatId, seenVersion }: VerificationFlow): boolean =>
  chatId === null && seenVersion !== null;

/** Returns the proven game account of a flow, or null. @internal */
export const provenGame = ({ gameId, gameProof }: VerificationFlow): ProvenGame | null =>
  gameId === null || gameProof === null ? null : { gameId, gameProof };

/**
 * A sign-in at a platform, stored until the browser returns and used once. Its secrets are not stored: `Secrets.signIn`
 * derives them from the returned `state`.
 */
export interface SignInChallenge {
  /** Keyed hash of the `state` that the platform returns after the sign-in. */
  readonly stateHash: string;
  readonly flow: FlowId;
  readonly step: ProofStep;
  readonly expiresAt: Millis;
}

/** A proven game account, and how it was proven. */
export interface ProvenGame {
  readonly gameId: GameId;
  readonly gameProof: GameProof;
}

/**
 * A proven account. A new proof of the chat account replaces the earlier proofs of both accounts, and the connections.
 * With a `game`, it proves the game account as well.
 */
export type Proof =
  | {
      readonly step: "chat";
      readonly chatId: ChatId;
      readonly connections?: ReadonlyArray<GameId>;
      readonly game?: ProvenGame | null;
    }
  | { readonly step: "game"; readonly game: ProvenGame };

/**
 * Stores verification flows and their proofs. `LinkStore.removeGame` and `UserStore.erase` void the flows that proved
 * the chat user, and `LinkStore.deleteScope` voids all flows of the scope. A voided flow loses its proofs but stays
 * stored (see `isVoided`), so that its browser learns the reason and can start again.
 *
 * Operations die on an unknown scope, on an id or `stateHash` that exists already, and on text that `isStorable`
 * refuses.
 */
export class FlowStore extends Context.Service<
  FlowStore,
  {
    readonly begin: (flow: VerificationFlow) => StoreEffect<void>;

    /** Finds a flow. None if it was deleted or has expired. */
    readonly find: (id: FlowId, at: Millis) => StoreEffect<Option.Option<VerificationFlow>>;

    /** Stores a challenge. Returns false if its flow is gone. */
    readonly challenge: (challenge: SignInChallenge) => StoreEffect<boolean>;

    /**
     * Returns a challenge of the flow and deletes it, so that it is used only once. Returns None if the challenge or
     * the flow is gone or has expired.
     */
    readonly takeChallenge: (
      id: FlowId,
      stateHash: string,
      at: Millis,
    ) => StoreEffect<Option.Option<SignInChallenge>>;

    /**
     * Adds a proof to a flow. The flow's id becomes `nextId`, the id of a new cookie, and its sign-in challenges are
     * deleted. So no sign-in that started under the old cookie succeeds. The second proof also stores the version of
     * the chat user's record.
     *
     * Returns None if the flow is gone or has expired, or if the game account is proven before the chat account.
     */
    readonly prove: (
      id: FlowId,
      proof: Proof,
      at: Millis,
      nextId: FlowId,
    ) => StoreEffect<Option.Option<VerificationFlow>>;

    /** Stores the game account that the user named. Returns false if the flow is gone or has no chat account. */
    readonly name: (id: FlowId, gameId: GameId, at: Millis) => StoreEffect<boolean>;

    readonly end: (id: FlowId) => StoreEffect<void>;
  }
>()("@accountlink/core/FlowStore") {}

// The rules by which a flow completes. Stores apply the rules in their transaction, to rows that they have locked.

export interface CompletionState {
  readonly flow: VerificationFlow | undefined;
  readonly session: VerificationSession | undefined;
  /** The link record of the flow's chat user; undefined if the scope has none. */
  readonly record: LinkRecord | undefined;
  /** Whether one of the two users is blocked. */
  readonly isBlocked: boolean;
}

export type CompletionRefusal = Exclude<FlowCompleted, { readonly _tag: "Completed" }>;

/** Returns why a flow cannot complete; null if it can. @internal */
export const completionRefusal = (
  write: CompleteFlow,
  { flow, session, record, isBlocked }: CompletionState,
): CompletionRefusal | null => {
  if (flow === undefined) return { _tag: "FlowGone" };
  if (session !== undefined && !isOpenAt(session, write.at)) return { _tag: "SessionOver", session };
  if (flow.pid !== write.pid || write.at >= flow.expiresAt) return { _tag: "FlowGone" };
  if (isVoided(flow)) return { _tag: "LinkChanged" };
  if (!holdsProofs(flow, write) || (flow.session !== null && !isFor(session, write)))
    return { _tag: "FlowGone" };
  const canKeep = keptGame(write, record) !== null;
  if (!isAsSeen(flow, record) || (write.keeps === true && !canKeep)) return { _tag: "LinkChanged" };
  return isBlocked ? { _tag: "Blocked" } : null;
};

/** Returns the game user of the link that a completion keeps; null if it stores a new link. @internal */
export const keptGame = ({ keeps }: CompleteFlow, record: LinkRecord | undefined): GameId | null =>
  keeps ? (record?.gameId ?? null) : null;

const isAsSeen = (flow: VerificationFlow, record: LinkRecord | undefined): boolean =>
  (record?.linkVersion ?? 0) === flow.seenVersion;

const holdsProofs = (flow: VerificationFlow, { chatId, gameId, proof }: CompleteFlow): boolean =>
  flow.chatId === chatId && flow.gameId === gameId && flow.gameProof === proof;

const isFor = (session: VerificationSession | undefined, { pid, chatId, gameId }: CompleteFlow): boolean =>
  session?.pid === pid && (session.chatId ?? chatId) === chatId && (session.gameId ?? gameId) === gameId;

/** @internal */
export const completedSession = (
  session: VerificationSession,
  { chatId, at, keeps, proof }: CompleteFlow,
  { gameId, previousGameId }: { readonly gameId: GameId; readonly previousGameId: GameId | null },
): VerificationSession => ({
  ...session,
  state: "completed",
  chatId,
  gameId,
  linkChanged: gameId !== previousGameId,
  previousGameId: keeps ? null : previousGameId,
  proof: keeps ? null : proof,
  completedAt: at,
  change: session.change + 1,
});
