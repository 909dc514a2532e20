/** Proves an account: sends the browser to a platform's sign-in, and stores the proof when the browser returns. */
import { Clock, Effect, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import { makeAdmission } from "../admission/admission.ts";
import type { PlatformUnavailable } from "../errors.ts";
import { GuildLog } from "../guild_log/guild_log.ts";
import { unkeyed } from "../idempotency/idempotency_store.ts";
import type { ChatId, GameId } from "../ids.ts";
import { filterLimited } from "../limited_loops.ts";
import { GamePlatform } from "../platforms/game_platform.ts";
import { GuildGuard } from "../platforms/guild_guard.ts";
import {
  ChatIdentity,
  GameIdentity,
  type IdentityProvider,
  type ProofDenied,
  type ProofInvalid,
} from "../platforms/identity_provider.ts";
import { randomToken } from "../secrets/crypto.ts";
import { Secrets } from "../secrets/secrets.ts";
import { SessionStore } from "../sessions/session_store.ts";
import { SessionWatch } from "../sessions/session_watch.ts";
import { FlowStore, type Proof, type ProofStep } from "./flow_store.ts";
import { type FlowSubject, FlowSubjects } from "./flow_subjects.ts";
import { type FlowEntry, FlowRefused } from "./flow_view.ts";
import { GameWays } from "./game_ways.ts";
import {
  belongsTo,
  type Cookie,
  flowIdOf,
  type HeldFlow,
  lastEntryOf,
  makeFindFlow,
  makeRefuseGone,
  newCookie,
  withEntry,
} from "./held_flow.ts";
import { checkChatProof, checkUnnamed, makeProve } from "./store_proof.ts";
import { makeFlowAccounts } from "./view_flow.ts";

export const makeProofs = Effect.gen(function* () {
  const flows = yield* FlowStore;
  const subjects = yield* FlowSubjects;
  const sessions = yield* SessionStore;
  const secrets = yield* Secrets;
  const watch = yield* SessionWatch;
  const guard = yield* GuildGuard;
  const accounts = yield* makeFlowAccounts;
  const random = yield* SecureRandom.SecureRandom;
  const identities: Record<ProofStep, IdentityProvider<ChatId | GameId>> = {
    chat: yield* ChatIdentity,
    game: yield* GameIdentity,
  };
  const findFlow = yield* makeFindFlow;
  const refuseGone = yield* makeRefuseGone;
  const admit = yield* makeAdmit;
  const prove = yield* makeProve;
  const withConnections = (yield* GameWays).includes("connection");
  const { hasUser } = yield* GamePlatform;

  /** Leaves out accounts that are gone. While the game platform does not answer, all stay. */
  const existing = (gameIds: ReadonlyArray<GameId>) =>
    filterLimited(gameIds, (gameId) => Effect.orElseSucceed(hasUser(gameId), () => true), { concurrency: 3 });

  const beginFlow = Effect.fnUntraced(function* (subject: FlowSubject, entry: FlowEntry) {
    const { session, pid, guildId, redirect, expiresAt } = subject;
    const cookie = yield* newCookie(random, expiresAt);
    const id = yield* flowIdOf(secrets, cookie);
    const unproven = { chatId: null, gameId: null, gameProof: null, seenVersion: null };
    const unnamed = { connections: [], named: null, wordSeed: yield* randomToken(random) };
    yield* flows.begin({ id, session, pid, guildId, redirect, ...unproven, ...unnamed, expiresAt });
    return withEntry(cookie, entry);
  });

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
    const held = yield* findFlow(cookie);
    const entry = given ?? (yield* lastEntryOf(held, cookie));
    if (entry === null) return yield* refuseGone(cookie, null);
    const subject = yield* subjects.resolve(entry);
    const flow = held !== null && belongsTo(held, subject) ? held : null;
    if (step === "game") {
      yield* checkUnnamed(subject, entry);
      yield* checkChatProof(flow, entry, cookie);
    }
    const kept = flow === null || cookie === null ? yield* beginFlow(subject, entry) : cookie;
    if (step === "chat") yield* openSession(subject);
    const state = yield* randomToken(random);
    const { stateHash, ...signIn } = yield* secrets.signIn(state);
    const id = yield* flowIdOf(secrets, kept);
    const { guildId, expiresAt } = subject;
    if (!(yield* flows.challenge({ stateHash, flow: id, step, expiresAt }))) {
      return yield* refuseGone(kept, entry);
    }
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
    const { reason, entry } = refused;
    return reason === "wrong_user" || reason === "not_a_member"
      ? Effect.flatMap(accounts.chat(chatId), (account) => new FlowRefused({ reason, entry, account }))
      : refused;
  };

  /** Leaves out a connected game account that is not admitted, since the user may have another one. */
  const withAdmittedGame = (subject: FlowSubject, chatId: ChatId | null, proof: Proof, entry: FlowEntry) =>
    admit(subject, chatId, proof, entry).pipe(
      Effect.as(proof),
      Effect.catchTag("FlowRefused", (refused) =>
        proof.step === "chat" && refused.step === "game" && proof.game?.gameProof === "connection"
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
    const flow = yield* findFlow(held);
    if (flow === null) return yield* refuseGone(held, null);
    const { entry } = flow;
    const { userId, isMember, connections: named = [] } = yield* signIn(step, flow, callback, redirectUri);
    const connections = yield* existing(named);
    const subject = yield* subjects.resolve(entry);
    const proof = proofOf(step, userId, subject, connections);
    if (proof.step === "chat") {
      const { chatId } = proof;
      const admitted = admitUser(guard, subject, { chatId, isMember }, entry);
      yield* admitted.pipe(Effect.catch(withAccount(chatId)));
    }
    const chatId = proof.step === "chat" ? proof.chatId : flow.chatId;
    const admitted = yield* withAdmittedGame(subject, chatId, proof, entry);
    return yield* prove(flow, admitted, held);
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
  connections: ReadonlyArray<GameId> = [],
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

/**
 * Refuses a chat user if the session is for another user, or if the user is not a member of the guild.
 *
 * @param user.isMember the membership that the sign-in reported, which is newer than the platform's cached answers; if
 * undefined, the platform is asked
 */
export const admitUser = (
  guard: GuildGuard["Service"],
  { scope, guildId, chatId }: FlowSubject,
  user: { readonly chatId: ChatId; readonly isMember?: boolean | undefined },
  entry: FlowEntry,
): Effect.Effect<void, FlowRefused> => {
  const refuse = (reason: "wrong_user" | "not_a_member" | "no_guild") => new FlowRefused({ reason, entry });
  if (chatId !== null && chatId !== user.chatId) return refuse("wrong_user");
  const isMember =
    user.isMember === undefined ? guard.isMember(guildId, user.chatId) : Effect.succeed(user.isMember);
  return Effect.andThen(guard.enterAsUser(scope, guildId), isMember).pipe(
    Effect.flatMap((is) => (is ? Effect.void : refuse("not_a_member"))),
    Effect.catchTags({
      Forbidden: () => refuse("no_guild"),
      MissingParameter: () => refuse("no_guild"),
      ...refusePlatformDown(entry),
    }),
  );
};

/**
 * Returns a function that refuses accounts that the community does not admit, and tells the log of the community.
 *
 * @param chatId the chat user who proves the accounts
 */
export const makeAdmit = Effect.gen(function* () {
  const admission = yield* makeAdmission;
  const log = yield* GuildLog;
  return Effect.fnUntraced(function* (
    subject: FlowSubject,
    chatId: ChatId | null,
    proof: Proof,
    entry: FlowEntry,
  ) {
    const { game = null } = proof;
    const asked = {
      chat: proof.step === "chat" ? admission.chat(subject, proof.chatId) : Effect.succeed(null),
      game: game === null ? Effect.succeed(null) : admission.game(subject, game.gameId),
    };
    for (const step of ["chat", "game"] as const) {
      const refused = yield* Effect.catchTags(asked[step], refusePlatformDown(entry));
      if (refused === null) continue;
      if (chatId !== null) {
        yield* log.tellRefused(subject.scope, { chatId, gameId: game?.gameId ?? null }, refused);
      }
      return yield* new FlowRefused({ ...refused, step, entry });
    }
  });
});

/** Makes a handler for `Effect.catchTags` that refuses the step with the reason `platform_down`. */
export const refusePlatformDown = (entry: FlowEntry) => ({
  PlatformUnavailable: (cause: PlatformUnavailable) =>
    new FlowRefused({ reason: "platform_down", entry, step: cause.platform, cause }),
});
