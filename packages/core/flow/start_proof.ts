/** `VerificationFlows.start`: sends the browser to a platform's sign-in. */
import { Clock, Effect, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import type { ChatId, GameId } from "../ids.ts";
import { ChatIdentity, GameIdentity, type IdentityProvider } from "../platforms/identity_provider.ts";
import { randomToken } from "../secrets/random_token.ts";
import { Secrets } from "../secrets/secrets.ts";
import { SessionStore } from "../sessions/session_store.ts";
import { SessionWatch } from "../sessions/session_watch.ts";
import { type Cookie, makeFlowId, newCookie, withEntry } from "./flow_cookie.ts";
import { FlowRefused } from "./flow_refusal.ts";
import { FlowStore } from "./flow_store.ts";
import { type FlowSubject, FlowSubjects } from "./flow_subjects.ts";
import type { FlowEntry } from "./flow_view.ts";
import { belongsTo, lastEntryOf, makeFindFlow, refuseGone } from "./held_flow.ts";
import { isVoided, type ProofStep, type VerificationFlow } from "./verification_flow.ts";

export const makeStart = Effect.gen(function* () {
  const flows = yield* FlowStore;
  const subjects = yield* FlowSubjects;
  const sessions = yield* SessionStore;
  const secrets = yield* Secrets;
  const watch = yield* SessionWatch;
  const random = yield* SecureRandom.SecureRandom;
  const identities = yield* identityProviders;
  const findFlow = yield* makeFindFlow;
  const idOf = yield* makeFlowId;

  const beginFlow = Effect.fnUntraced(function* (subject: FlowSubject, entry: FlowEntry) {
    const { session, pid, guildId, redirect, expiresAt } = subject;
    const cookie = yield* newCookie(random, expiresAt);
    const id = yield* idOf(cookie);
    const unproven = { chatId: null, gameId: null, seenVersion: null };
    yield* flows.begin({ id, session, pid, guildId, redirect, ...unproven, expiresAt });
    return withEntry(cookie, entry);
  });

  const openSession = Effect.fnUntraced(function* ({ session }: FlowSubject) {
    if (session === null) return;
    const at = yield* Clock.currentTimeMillis;
    const opened = yield* sessions.advance({ id: session, to: "opened", at });
    if (Option.isSome(opened) && opened.value.changed) yield* watch.announce([session]);
  });

  return Effect.fn("VerificationFlows.start")(function* (
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
    yield* checkOrder(step, flow, entry);
    const kept = flow === null || cookie === null ? yield* beginFlow(subject, entry) : cookie;
    if (step === "chat") yield* openSession(subject);
    const state = yield* randomToken(random);
    const { stateHash, ...signIn } = yield* secrets.signIn(state);
    const id = yield* idOf(kept);
    const { guildId, expiresAt } = subject;
    if (!(yield* flows.challenge({ stateHash, flow: id, step, expiresAt }))) {
      return yield* refuseGone(kept, entry);
    }
    const { url } = yield* identities[step].begin({ redirectUri, state, ...signIn, guildId });
    return { url, entry, cookie: kept };
  });
});

/** The platform of each proof step. */
export const identityProviders = Effect.gen(function* () {
  const providers: Record<ProofStep, IdentityProvider<ChatId | GameId>> = {
    chat: yield* ChatIdentity,
    game: yield* GameIdentity,
  };
  return providers;
});

/** Refuses to prove the game account before the chat account. */
export const checkOrder = (step: ProofStep, flow: VerificationFlow | null, entry: FlowEntry) => {
  if (step === "chat" || (flow !== null && flow.chatId !== null)) return Effect.void;
  const reason = flow !== null && isVoided(flow) ? "link_changed" : "unfinished";
  return Effect.fail(new FlowRefused({ reason, entry }));
};
