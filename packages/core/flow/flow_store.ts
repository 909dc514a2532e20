import { Array as Arr, Context, Effect, Option, Schema } from "effect";
import type { StoreEffect } from "../errors.ts";
import type { ChatId, FlowId, GameId } from "../ids.ts";
import { type GameProof, type LinkRecord, mostTaken } from "../links/mod.ts";
import { type RecordOf, recordStore, recordType, type Tx, textAs } from "../records/mod.ts";
import type { CompleteFlow, FlowCompleted } from "../sessions/session_store.ts";
import { isOpenAt, type VerificationSession } from "../sessions/session_store.ts";
import { type VerificationFlow, verificationFlows } from "../sessions/verification_flow.ts";
import type { Millis } from "../timestamp.ts";

export { type VerificationFlow, verificationFlows } from "../sessions/verification_flow.ts";

export type ProofStep = "chat" | "game";

/**
 * Returns whether the flow lost its proofs because a link was removed, and no account has been proven since. @internal
 */
export const isVoided = ({ chatId, seenVersion }: VerificationFlow): boolean =>
  chatId === null && seenVersion !== null;

/** Returns the proven game account of a flow, or null. @internal */
export const provenGame = ({ gameId, gameProof }: VerificationFlow): ProvenGame | null =>
  gameId === null || gameProof === null ? null : { gameId, gameProof };

/** @internal */
export const signInChallenges = recordType({
  name: "sign_ins",
  fields: {
    /** Keyed hash of the `state` that the platform returns after the sign-in. */
    stateHash: Schema.String,
    flow: textAs<FlowId>(),
    step: Schema.Literals(["chat", "game"]),
    expiresAt: Schema.Int,
  },
  columns: { flow: "flow_id" },
  key: ["stateHash"],
  indexes: { byFlow: { fields: ["flow", "stateHash"], group: 1 } },
});

/**
 * A sign-in at a platform, stored until the browser returns and used once. Its secrets are not stored: `Secrets.signIn`
 * derives them from the returned `state`.
 */
export interface SignInChallenge extends RecordOf<typeof signInChallenges> {}

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
    readonly begin: (flow: VerificationFlow, challenge?: SignInChallenge) => StoreEffect<void>;

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

/** How many sign-ins of a flow are pending. A further one ends the one that ends first. */
const pendingIn = (mostWritten: number): number => Math.min(20, Math.max(10, mostWritten));

const pendingOf = (tx: Tx, id: FlowId) => tx.list(signInChallenges.byFlow, [id]);

const remove = Effect.fnUntraced(function* (
  tx: Tx,
  id: FlowId,
  pending: Effect.Success<ReturnType<typeof pendingOf>>,
) {
  for (const { stateHash } of pending) yield* tx.remove(signInChallenges, stateHash);
  yield* tx.remove(verificationFlows, id);
});

/** Deletes a flow with its challenges. @internal */
export const endFlow = Effect.fnUntraced(function* (tx: Tx, id: FlowId) {
  const [, pending] = yield* Effect.all([tx.get(verificationFlows, id), pendingOf(tx, id)], tx.atOnce);
  yield* remove(tx, id, pending);
});

/**
 * Deletes flows with their challenges, until a bounded write is full. Returns how many.
 *
 * @param mostWritten how many records the write stores at most: a bounded write deletes the flows one by one
 * @internal
 */
export const endFlows = Effect.fnUntraced(function* (
  tx: Tx,
  flows: ReadonlyArray<VerificationFlow>,
  mostWritten: number,
) {
  let ended = 0;
  for (const some of Arr.chunksOf(flows, Math.ceil(mostWritten / 100))) {
    if (tx.isFull()) break;
    const keys = some.map(({ id }) => [id]);
    // A bounded write deletes few at once.
    while ((yield* tx.removeOf(signInChallenges.byFlow, keys)).length > 0);
    ended += (yield* tx.removeAll(verificationFlows, keys)).length;
  }
  return ended;
});

const findAt = Effect.fnUntraced(function* (tx: Tx, id: FlowId, at: Millis) {
  const flow = yield* tx.get(verificationFlows, id);
  return flow !== undefined && at < flow.expiresAt ? flow : undefined;
});

/** Stores flows in any storage. @internal */
export const storedFlows = recordStore(FlowStore, ({ read, write, mostWritten }) => ({
  begin: (flow, challenge) =>
    write("begin", flow.id, function* (tx) {
      yield* tx.create(verificationFlows, flow);
      if (challenge !== undefined) yield* tx.create(signInChallenges, challenge);
    }),

  find: (id, at) =>
    Effect.map(
      read("find", (tx) => findAt(tx, id, at)),
      Option.fromUndefinedOr,
    ),

  challenge: (challenge) =>
    write("challenge", challenge.flow, function* (tx) {
      const { flow } = challenge;
      const [found, pending] = yield* Effect.all(
        [tx.get(verificationFlows, flow), pendingOf(tx, flow)],
        tx.atOnce,
      );
      if (found === undefined) return false;
      const [first] = pending.toSorted((one, other) => one.expiresAt - other.expiresAt);
      if (first !== undefined && pending.length >= pendingIn(mostWritten)) {
        yield* tx.remove(signInChallenges, first.stateHash);
      }
      yield* tx.create(signInChallenges, challenge);
      return true;
    }),

  takeChallenge: (id, stateHash, at) =>
    write("takeChallenge", id, function* (tx) {
      const [flow, challenge] = yield* Effect.all(
        [findAt(tx, id, at), tx.get(signInChallenges, stateHash)],
        tx.atOnce,
      );
      if (flow === undefined || challenge?.flow !== id || challenge.expiresAt <= at) return Option.none();
      return Option.fromUndefinedOr(yield* tx.remove(signInChallenges, stateHash));
    }),

  prove: Effect.fnUntraced(function* (id, proof, at, nextId) {
    for (;;) {
      // The record of the chat user is locked before the flow, so its name and its scope are read before.
      const found = yield* read("prove", (tx) => findAt(tx, id, at));
      const chatId = proof.step === "chat" ? proof.chatId : (found?.chatId ?? null);
      if (found === undefined || chatId === null) return Option.none();
      const proven = yield* write("prove", id, function* (tx) {
        const [linked, flow, pending] = yield* Effect.all(
          [tx.linked(found.pid, [chatId]), findAt(tx, id, at), pendingOf(tx, id)],
          tx.atOnce,
        );
        if (flow === undefined) return null;
        if (proof.step === "game" && flow.chatId !== chatId) return undefined;
        const { gameId, gameProof } = proof.game ?? { gameId: null, gameProof: null };
        const seenVersion = gameId === null ? null : (linked.get(chatId)?.linkVersion ?? 0);
        const connections = proof.step === "chat" ? (proof.connections ?? []) : flow.connections;
        yield* remove(tx, id, pending);
        const next = { ...flow, id: nextId, chatId, gameId, gameProof, seenVersion, connections };
        yield* tx.create(verificationFlows, next);
        return next;
      });
      if (proven !== undefined) return Option.fromNullOr(proven);
    }
  }),

  name: (id, gameId, at) =>
    write("name", id, function* (tx) {
      const flow = yield* findAt(tx, id, at);
      if (flow === undefined || flow.chatId === null) return false;
      yield* tx.put(verificationFlows, { ...flow, named: gameId });
      return true;
    }),

  end: (id) => write("end", id, (tx) => endFlow(tx, id)),
}));

// The rules by which a flow completes. Stores apply the rules in their transaction, to rows that they have locked.

export interface CompletionState {
  readonly flow: VerificationFlow | undefined;
  readonly session: VerificationSession | undefined;
  /** The link record of the flow's chat user; undefined if the scope has none. */
  readonly record: LinkRecord | undefined;
  /** Whether one of the two users is blocked. */
  readonly isBlocked: boolean;
  /** The other chat users of the game account, if the scope allows one. */
  readonly takenBy: ReadonlyArray<ChatId>;
}

export type CompletionRefusal = Exclude<FlowCompleted, { readonly _tag: "Completed" }>;

/** Returns why a flow cannot complete; null if it can. @internal */
export const completionRefusal = (
  write: CompleteFlow,
  { flow, session, record, isBlocked, takenBy }: CompletionState,
): CompletionRefusal | null => {
  if (flow === undefined) return { _tag: "FlowGone" };
  if (session !== undefined && !isOpenAt(session, write.at)) return { _tag: "SessionOver", session };
  if (flow.pid !== write.pid || write.at >= flow.expiresAt) return { _tag: "FlowGone" };
  if (isVoided(flow)) return { _tag: "LinkChanged" };
  if (!holdsProofs(flow, write) || (flow.session !== null && !isFor(session, write)))
    return { _tag: "FlowGone" };
  const canKeep = keptGame(write, record) !== null;
  if (!isAsSeen(flow, record) || (write.keeps === true && !canKeep)) return { _tag: "LinkChanged" };
  if (isBlocked) return { _tag: "Blocked" };
  return isTaken(write, takenBy) ? { _tag: "Taken" } : null;
};

const isTaken = ({ keeps, moves }: CompleteFlow, takenBy: ReadonlyArray<ChatId>): boolean => {
  const [newest] = takenBy;
  const canMove = (moves === true || moves === newest) && takenBy.length < mostTaken;
  return keeps !== true && newest !== undefined && !canMove;
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
export const completedSession = <S extends VerificationSession>(
  session: S,
  { chatId, at, keeps, proof }: CompleteFlow,
  { gameId, previousGameId }: { readonly gameId: GameId; readonly previousGameId: GameId | null },
): S => ({
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
