/**
 * The way of a browser to both proofs.
 */
import { Clock, Effect, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import { type FlowEntry, FlowRefused } from "../flow_refusal.ts";
import type { ChatId, GameId } from "../ids.ts";
import { FlowStore, type Proof } from "../ports/flow_store.ts";
import {
  ChatIdentity,
  GameIdentity,
  type IdentityProvider,
  type ProofDenied,
  type ProofInvalid,
} from "../ports/identity_provider.ts";
import { SessionStore } from "../ports/session_store.ts";
import { type FlowSubject, FlowSubjects } from "../services/flow_subjects.ts";
import { GuildGuard } from "../services/guild_guard.ts";
import { Profiles } from "../services/profiles.ts";
import { Secrets } from "../services/secrets.ts";
import { SessionWatch } from "../services/session_watch.ts";
import { isVoided, type ProofStep, type VerificationFlow } from "../verification_flow.ts";
import { shownAccounts } from "./flow_accounts.ts";
import {
  admitUser,
  belongsTo,
  flowFinder,
  type HeldFlow,
  lastEntryOf,
  refusedPlatform,
  refuseGone,
} from "./flow_common.ts";
import { deadlineOf, entered, flowIdOf, newCookie } from "./flow_cookie.ts";
import { randomToken } from "./random_token.ts";

type Cookie = string | null;

/** `view`, `start` and `finish` of `VerificationFlows`. */
export const flowSteps = Effect.gen(function* () {
  const flows = yield* FlowStore;
  const subjects = yield* FlowSubjects;
  const sessions = yield* SessionStore;
  const secrets = yield* Secrets;
  const watch = yield* SessionWatch;
  const guard = yield* GuildGuard;
  const profiles = yield* Profiles;
  const shown = yield* shownAccounts;
  const random = yield* SecureRandom.SecureRandom;
  const identities: Record<ProofStep, IdentityProvider<ChatId | GameId>> = {
    chat: yield* ChatIdentity,
    game: yield* GameIdentity,
  };
  const find = yield* flowFinder;
  const idOf = yield* flowIdOf;

  /**
   * Whoever has the `pid` of a global scope can name any guild. The platform is asked only for one that a key has named,
   * or that a member has come from: platforms shut out bots that ask for guilds they are not in.
   */
  const shownGuild = Effect.fnUntraced(function* (
    { sid, scope, guildId }: FlowSubject,
    flow: VerificationFlow | null,
  ) {
    if (guildId === null) return null;
    const isVouchedFor = sid !== null || scope.kind === "guild" || (flow !== null && flow.chatId !== null);
    return (isVouchedFor ? yield* profiles.guild(guildId) : null) ?? { id: guildId, name: null };
  });

  const view = Effect.fn("VerificationFlows.view")(function* (entry: FlowEntry, given: Cookie) {
    const subject = yield* subjects.resolve(entry);
    const held = yield* find(given);
    const flow = held !== null && belongsTo(held, subject) ? held : null;
    const isAlive = (deadlineOf(given) ?? 0) > (yield* Clock.currentTimeMillis);
    const cookie = given !== null && isAlive ? given : yield* newCookie(random, subject.expiresAt);
    const { guild, accounts } = yield* Effect.all(
      {
        guild: shownGuild(subject, flow),
        accounts: shown.accounts(subject.pid, flow?.chatId ?? null, flow?.gameId ?? null),
      },
      { concurrency: 2 },
    );
    return {
      entry,
      sid: subject.sid,
      asking: subject.asking,
      redirect: subject.redirect,
      expiresAt: (flow ?? subject).expiresAt,
      guild,
      ...accounts,
      csrf: yield* secrets.flowCsrf(yield* idOf(cookie), subject.session ?? subject.pid),
      // A flow that has begun keeps what its cookie says, which it needs.
      cookie: held === null ? entered(cookie, entry) : cookie,
    };
  });

  const beginFlow = Effect.fnUntraced(function* (subject: FlowSubject, entry: FlowEntry) {
    const { session, pid, guildId, redirect, expiresAt } = subject;
    const cookie = yield* newCookie(random, expiresAt);
    const id = yield* idOf(cookie);
    const unproven = { chatId: null, gameId: null, seenVersion: null };
    yield* flows.begin({ id, session, pid, guildId, redirect, ...unproven, expiresAt });
    return entered(cookie, entry);
  });

  const openSession = Effect.fnUntraced(function* ({ session }: FlowSubject) {
    if (session === null) return;
    const at = yield* Clock.currentTimeMillis;
    const opened = yield* sessions.advance({ id: session, to: "opened", at });
    if (Option.isSome(opened) && opened.value.changed) yield* watch.announce([session]);
  });

  const start = Effect.fn("VerificationFlows.start")(function* (
    step: ProofStep,
    given: FlowEntry | null,
    cookie: Cookie,
    redirectUri: string,
  ) {
    const held = yield* find(cookie);
    const entry = given ?? (yield* lastEntryOf(held, cookie));
    if (entry === null) return yield* refuseGone(cookie, null);
    const subject = yield* subjects.resolve(entry);
    const flow = held !== null && belongsTo(held, subject) ? held : null;
    yield* checkOrder(step, flow, entry);
    const kept = flow === null || cookie === null ? yield* beginFlow(subject, entry) : cookie;
    if (step === "chat") yield* openSession(subject);
    const state = yield* randomToken(random);
    const { stateHash, ...made } = yield* secrets.signIn(state);
    const id = yield* idOf(kept);
    const { guildId, expiresAt } = subject;
    if (!(yield* flows.challenge({ stateHash, flow: id, step, expiresAt }))) {
      return yield* refuseGone(kept, entry);
    }
    return {
      ...(yield* identities[step].begin({ redirectUri, state, ...made, guildId })),
      entry,
      cookie: kept,
    };
  });

  const signedIn = Effect.fnUntraced(function* (
    step: ProofStep,
    { id, guildId, entry }: HeldFlow,
    callback: URLSearchParams,
    redirectUri: string,
  ) {
    const state = callback.get("state") ?? "";
    const { stateHash, ...made } = yield* secrets.signIn(state);
    const now = yield* Clock.currentTimeMillis;
    const challenge = Option.getOrNull(yield* flows.takeChallenge(id, stateHash, now));
    if (challenge === null || challenge.step !== step) {
      return yield* new FlowRefused({ reason: "sign_in_invalid", entry });
    }
    return yield* identities[step]
      .finish({ redirectUri, state, ...made, guildId }, callback)
      .pipe(Effect.catchTags({ ...refusedProof(entry), ...refusedPlatform(entry) }));
  });

  /** A user with several accounts does not always know as which of them they are signed in. */
  const sayingWho = (chatId: ChatId) => (refused: FlowRefused) => {
    const { reason, entry } = refused;
    return reason === "wrong_user" || reason === "not_a_member"
      ? Effect.flatMap(shown.chat(chatId), (account) => new FlowRefused({ reason, entry, account }))
      : refused;
  };

  const finish = Effect.fn("VerificationFlows.finish")(function* (
    step: ProofStep,
    held: Cookie,
    callback: URLSearchParams,
    redirectUri: string,
  ) {
    const flow = yield* find(held);
    if (flow === null) return yield* refuseGone(held, null);
    const { entry } = flow;
    const { userId, isMember } = yield* signedIn(step, flow, callback, redirectUri);
    const proof = proofOf(step, userId);
    const subject = yield* subjects.resolve(entry);
    if (proof.step === "chat") {
      const { chatId } = proof;
      yield* admitUser(guard, subject, { chatId, isMember }, entry).pipe(Effect.catch(sayingWho(chatId)));
    }
    const cookie = entered(yield* newCookie(random, flow.expiresAt), entry);
    const now = yield* Clock.currentTimeMillis;
    const proven = yield* flows.prove(flow.id, proof, now, yield* idOf(cookie));
    if (Option.isNone(proven)) {
      yield* checkOrder(step, yield* find(held), entry);
      return yield* refuseGone(held, entry);
    }
    return { entry, cookie };
  });

  return { view, start, finish };
});

/** The game account is proven after the chat account. */
const checkOrder = (step: ProofStep, flow: VerificationFlow | null, entry: FlowEntry) => {
  if (step === "chat" || (flow !== null && flow.chatId !== null)) return Effect.void;
  const reason = flow !== null && isVoided(flow) ? "link_changed" : "unfinished";
  return Effect.fail(new FlowRefused({ reason, entry }));
};

const proofOf = (step: ProofStep, userId: ChatId | GameId): Proof =>
  step === "chat" ? { step, chatId: userId as ChatId } : { step, gameId: userId as GameId };

const refusedProof = (entry: FlowEntry) => ({
  ProofDenied: (_: ProofDenied) => new FlowRefused({ reason: "denied", entry }),
  ProofInvalid: (cause: ProofInvalid) =>
    Effect.andThen(
      Effect.logDebug(cause.message),
      new FlowRefused({ reason: "sign_in_invalid", entry, cause }),
    ),
});
