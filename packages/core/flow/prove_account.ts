/** Proves an account: sends the browser to a platform's sign-in, and stores the proof when the browser returns. */
import { Clock, Effect, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import { unkeyed } from "../idempotency/idempotency_store.ts";
import type { ChatId, GameId } from "../ids.ts";
import { filterLimited } from "../limited_loops.ts";
import { GamePlatform } from "../platforms/game_platform.ts";
import {
  ChatIdentity,
  GameIdentity,
  type IdentityProvider,
  type ProofDenied,
  type ProofInvalid,
} from "../platforms/identity_provider.ts";
import { randomToken, Secrets } from "../secrets/mod.ts";
import { SessionStore, SessionWatch } from "../sessions/mod.ts";
import { FlowAccounts } from "./flow_accounts.ts";
import { FlowAdmission, refusePlatformDown } from "./flow_admission.ts";
import type { Cookie } from "./flow_cookie.ts";
import { FlowStore, type Proof, type ProofStep } from "./flow_store.ts";
import { type FlowSubject, FlowSubjects } from "./flow_subjects.ts";
import { type FlowEntry, FlowRefused } from "./flow_view.ts";
import { GameWays } from "./game_ways.ts";
import { checkChatProof, checkUnnamed, type HeldFlow, HeldFlows } from "./held_flow.ts";

export const makeProofs = Effect.gen(function* () {
  const flows = yield* FlowStore;
  const subjects = yield* FlowSubjects;
  const sessions = yield* SessionStore;
  const secrets = yield* Secrets;
  const watch = yield* SessionWatch;
  const accounts = yield* FlowAccounts;
  const admission = yield* FlowAdmission;
  const heldFlows = yield* HeldFlows;
  const random = yield* SecureRandom.SecureRandom;
  const identities: Record<ProofStep, IdentityProvider<ChatId | GameId>> = {
    chat: yield* ChatIdentity,
    game: yield* GameIdentity,
  };
  const withConnections = (yield* GameWays).includes("connection");
  const { hasUser } = yield* GamePlatform;

  /** Leaves out accounts that are gone. While the game platform does not answer, all stay. */
  const existing = (gameIds: ReadonlyArray<GameId>) =>
    filterLimited(gameIds, 3, (gameId) => Effect.orElseSucceed(hasUser(gameId), () => true));

  const openSession = Effect.fnUntraced(function* ({ session }: FlowSubject) {
    if (session === null) return;
    const at = yield* Clock.currentTimeMillis;
    const opened = yield* unkeyed(sessions.advance({ id: session, to: "opened", at }));
    if (Option.isSome(opened) && opened.value.changed) yield* watch.announce([session]);
  });

  const start = Effect.fn("VerificationFlows.start")(function* (
    step: ProofStep,
    given: FlowEntry | null,
    cookie: Cookie,
    redirectUri: string,
  ) {
    const { flow, entry, subject } = yield* heldFlows.enter(given, cookie);
    if (step === "game") {
      yield* checkUnnamed(subject, entry);
      yield* checkChatProof(flow, entry, cookie);
    }
    const state = yield* randomToken(random);
    const { stateHash, ...signIn } = yield* secrets.signIn(state);
    const { guildId, expiresAt } = subject;
    const challenge = { stateHash, step, expiresAt };
    const challenged =
      flow === null
        ? heldFlows.begin(subject, entry, challenge)
        : Effect.map(flows.challenge({ ...challenge, flow: flow.id }), (isStored) =>
            isStored ? cookie : null,
          );
    const opened = step === "chat" ? openSession(subject) : Effect.void;
    const [kept] = yield* Effect.all([challenged, opened], { concurrency: "unbounded" });
    if (kept === null) return yield* heldFlows.refuseGone(cookie, entry);
    const { url } = yield* identities[step].begin({
      redirectUri,
      state,
      ...signIn,
      guildId,
      withConnections: withConnections && subject.gameId === null,
    });
    return { url, entry, cookie: kept };
  });

  const signIn = Effect.fnUntraced(function* (
    step: ProofStep,
    { id, guildId, entry }: HeldFlow,
    callback: URLSearchParams,
    redirectUri: string,
  ) {
    const state = callback.get("state") ?? "";
    const { stateHash, ...derived } = yield* secrets.signIn(state);
    const now = yield* Clock.currentTimeMillis;
    const challenge = Option.getOrNull(yield* flows.takeChallenge(id, stateHash, now));
    if (challenge === null || challenge.step !== step) {
      return yield* new FlowRefused({ reason: "sign_in_invalid", entry, step });
    }
    return yield* identities[step]
      .finish({ redirectUri, state, ...derived, guildId, withConnections }, callback)
      .pipe(Effect.catchTags({ ...refuseProof(entry, step), ...refusePlatformDown(entry) }));
  });

  /** Shows refused users which account they signed in with, since they may have several. */
  const withAccount = (chatId: ChatId) => (refused: FlowRefused) => {
    const { reason, entry, step, from } = refused;
    const isOfAccount =
      reason === "wrong_user" || reason === "not_a_member" || (step === "chat" && reason !== "platform_down");
    if (!isOfAccount) return refused;
    const fields = { reason, entry, ...(step && { step }), ...(from !== undefined && { from }) };
    return Effect.flatMap(accounts.chat(chatId), (account) => new FlowRefused({ ...fields, account }));
  };

  /** Leaves out a connected game account that is not admitted, since the user may have another one. */
  const withAdmittedGame = (subject: FlowSubject, proof: Proof & { step: "chat" }, entry: FlowEntry) =>
    admission.accounts(subject, proof.chatId, proof, entry).pipe(
      Effect.as(proof),
      Effect.catchTag("FlowRefused", (refused) =>
        refused.step === "game" && proof.game?.gameProof === "connection"
          ? Effect.succeed({ ...proof, game: null })
          : Effect.fail(refused),
      ),
    );

  const finish = Effect.fn("VerificationFlows.finish")(function* (
    step: ProofStep,
    held: Cookie,
    callback: URLSearchParams,
    redirectUri: string,
  ) {
    const flow = yield* heldFlows.find(held);
    if (flow === null) return yield* heldFlows.refuseGone(held, null);
    const { entry } = flow;
    const { userId, isMember, connections: named = [] } = yield* signIn(step, flow, callback, redirectUri);
    const connections = yield* existing(named);
    const subject = yield* subjects.resolve(entry);
    const proof = proofOf(step, userId, subject, connections);
    // An issuer may sign in players who have no account in the game, for example because it was deleted.
    if (proof.step === "game" && (yield* existing([proof.game.gameId])).length === 0) {
      return yield* new FlowRefused({ reason: "sign_in_invalid", entry, step });
    }
    if (proof.step === "game") {
      yield* admission.accounts(subject, flow.chatId, proof, entry);
      return yield* heldFlows.prove(flow, proof, held);
    }
    const { chatId } = proof;
    const admitted = yield* admission
      .user(subject, { chatId, isMember }, entry)
      .pipe(
        Effect.andThen(withAdmittedGame(subject, proof, entry)),
        Effect.catchTag("FlowRefused", withAccount(chatId)),
      );
    return yield* heldFlows.prove(flow, admitted, held);
  });

  return { start, finish };
});

/**
 * The chat account proves the game account as well, if the session names the player, or if the chat platform names one
 * account in `connections`.
 */
const proofOf = (
  step: ProofStep,
  userId: ChatId | GameId,
  { gameId: player }: FlowSubject,
  connections: ReadonlyArray<GameId>,
): Proof => {
  if (step === "game") return { step, game: { gameId: userId as GameId, gameProof: "oauth" } };
  if (player !== null) {
    return { step, chatId: userId as ChatId, game: { gameId: player, gameProof: "session" } };
  }
  const distinct = [...new Set(connections)];
  const [gameId, ...others] = distinct;
  const isOnlyOne = gameId !== undefined && others.length === 0;
  return {
    step,
    chatId: userId as ChatId,
    connections: distinct,
    ...(isOnlyOne && { game: { gameId, gameProof: "connection" } }),
  };
};

const refuseProof = (entry: FlowEntry, step: ProofStep) => ({
  ProofDenied: (_: ProofDenied) => new FlowRefused({ reason: "denied", entry, step }),
  ProofInvalid: (cause: ProofInvalid) =>
    Effect.andThen(
      Effect.logDebug(cause.message),
      new FlowRefused({ reason: "sign_in_invalid", entry, step, cause }),
    ),
});
