import {
  AuditLog,
  type ChatId,
  type DataScope,
  type GameId,
  LinkStore,
  type Pid,
  type StoreUnavailable,
  type VerificationSession,
} from "@accountlink/core";
import type { AddressSighting } from "@accountlink/core/addresses";
import { AltReviewStore, SightingStore } from "@accountlink/core/alts";
import { FlowStore, type VerificationFlow } from "@accountlink/core/flow";
import type { IdempotentRequest } from "@accountlink/core/idempotency";
import { KeyStore } from "@accountlink/core/keys";
import type { SetGame } from "@accountlink/core/links";
import { SessionStore } from "@accountlink/core/sessions";
import { SignInStore, type SiteSignIn } from "@accountlink/core/sign_ins";
import { type Places, type UserErased, UserStore } from "@accountlink/core/users";
import { Effect, Option } from "effect";
import { makeFlow, makeKey, makeSession, uniqueChatId, uniqueKeyId, uniqueText } from "../../mod.ts";
import { commit, idempotencySteps, newAnswer } from "../idempotency/idempotency_steps.ts";
import { makeScopes, origin } from "../scopes.ts";
import { newSignIn } from "../sign_in_store_suite.ts";

const reviewKey = uniqueKeyId();

/** Creates a chat user and the operations that store their data. */
export const newUserSteps = Effect.gen(function* () {
  const [links, sessions, flows] = [yield* LinkStore, yield* SessionStore, yield* FlowStore];
  const [keys, log, users] = [yield* KeyStore, yield* AuditLog, yield* UserStore];
  const [reviews, sightings] = [yield* AltReviewStore, yield* SightingStore];
  const signIns = yield* SignInStore;
  const { keep, find: findRequest } = yield* idempotencySteps;
  const chatId = uniqueChatId();

  const insertKey = Effect.fnUntraced(function* (scope: DataScope) {
    const key = makeKey(scope, {
      name: "Ours",
      allowIps: ["192.0.2.1"],
      redirectOrigins: ["https://a.example"],
    });
    const hash = uniqueText();
    yield* keys.insertKey({ ...origin, key, hash, maxKeys: null, at: 0 });
    return { key, hash };
  });

  const ownerHash = uniqueText();
  const erase = (scopes: ReadonlyArray<Pid>, pseudonym = `erased:${uniqueText()}`) =>
    Effect.map(users.erase({ ...origin, chatId, at: 7, scopes, pseudonym, ownerHash }), Option.getOrNull);

  const eraseAll: Effect.Effect<UserErased, StoreUnavailable> = Effect.gen(function* () {
    const records = yield* users.findRecords(chatId);
    const erased = yield* erase(records.map(({ scope }) => scope.pid));
    return erased ?? (yield* eraseAll);
  });

  return {
    chatId,
    ownerHash,
    keys,
    newScopes: makeScopes,
    insertKey,
    set: ({ pid }: DataScope, gameId: GameId, of: ChatId = chatId) =>
      links.setGame({ ...origin, pid, at: 0, chatId: of, gameId }),
    /** Sets the link with an idempotency key. */
    setOnce: ({ pid }: DataScope, gameId: GameId, request: IdempotentRequest) =>
      commit(request, (once?: SetGame["once"]) =>
        links.setGame({ ...origin, pid, at: 0, chatId, gameId, once }),
      ),
    remove: ({ pid }: DataScope) => links.removeGame({ ...origin, pid, at: 0, chatId }),
    move: ({ pid }: DataScope, oldChatId: ChatId, newChatId: ChatId) =>
      links.moveChat({ ...origin, pid, at: 0, oldChatId, newChatId }),
    recordOf: ({ pid }: DataScope, of: ChatId = chatId) =>
      Effect.map(links.findByChatId(pid, of), Option.getOrNull),
    chatsOf: ({ pid }: DataScope, gameId: GameId) => links.findByGameIds(pid, [gameId]),
    review: ({ pid }: DataScope, other: ChatId, of: ChatId = chatId) =>
      reviews.set({
        ...origin,
        pid,
        at: 0,
        chatId: other,
        otherChatId: of,
        verdict: "same",
        note: null,
        keyId: reviewKey,
      }),
    reviewsOf: ({ pid }: DataScope, of: ChatId) => reviews.findByChatId(pid, of, null),
    see: ({ pid }: DataScope, hash: string, of: ChatId = chatId) =>
      sessions.recordSightings(pid, [sightingOf(of, hash)]),
    seeIn: ({ pid }: DataScope, browser: string, of: ChatId = chatId, seenAt = 0) =>
      sessions.recordSightings(pid, [{ chatId: of, browser, seenAt }]),
    usersOf: ({ pid }: DataScope, place: string) =>
      Effect.map(sightings.countUsers(pid, [[place]]), ([count]) => count),
    forget: (places: Places) => users.forget(chatId, places),
    findSightings: users.findSightings(chatId),
    signIn: Effect.fnUntraced(function* (of: ChatId = chatId) {
      const signIn = newSignIn({ chatId: of });
      yield* signIns.create(signIn, null);
      return signIn;
    }),
    /** Keeps an answer that names the chat users `named`. Returns whether the key was free. */
    keep: (request: IdempotentRequest, ...named: ReadonlyArray<ChatId>) => keep(request, newAnswer(...named)),
    findRequest,
    findSignIn: ({ site, id }: SiteSignIn) => Effect.map(signIns.find(site, id, 0), Option.getOrNull),
    create: Effect.fnUntraced(function* (scope: DataScope, parts: Partial<VerificationSession> = {}) {
      const { key } = yield* insertKey(scope);
      const session = makeSession(key, parts);
      yield* sessions.create({ session, burst: null });
      return session;
    }),
    findSession: ({ id }: VerificationSession) => Effect.map(sessions.find(id), Option.getOrNull),
    cancel: ({ id }: VerificationSession) => sessions.advance({ id, to: "cancelled", at: 0 }),
    /** Begins a flow, and proves the chat user and the game user. */
    prove: Effect.fnUntraced(function* (
      scope: DataScope,
      gameId: GameId,
      session: VerificationSession | null = null,
    ) {
      const flow = makeFlow(scope, { session: session?.id ?? null });
      yield* flows.begin(flow);
      yield* flows.prove(flow.id, { step: "chat", chatId }, 0, flow.id);
      yield* flows.prove(flow.id, { step: "game", game: { gameId, gameProof: "oauth" } }, 0, flow.id);
      return flow;
    }),
    complete: (flow: VerificationFlow, gameId: GameId) =>
      sessions.complete({
        actor: { type: "user", id: chatId },
        requestId: null,
        pid: flow.pid,
        at: 0,
        flow: flow.id,
        chatId,
        gameId,
        proof: "oauth",
        address: sightingOf(chatId, "seen").address,
        browser: "browser",
      }),
    entries: (account: string) =>
      Effect.map(log.list(account, null, 1_000), (entries) => entries.toReversed()),
    find: users.find(chatId),
    findRecords: users.findRecords(chatId),
    erase,
    eraseAll,
  };
});

export const sightingOf = (chatId: ChatId, hash: string): AddressSighting => ({
  chatId,
  address: { hash, sealed: "sealed", addressKeyId: "k1" },
  seenAt: 0,
});
