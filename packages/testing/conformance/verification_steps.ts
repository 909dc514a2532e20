import type { ApiKey, ChatId, GameId, VerificationSession } from "@accountlink/core";
import { FlowStore, type Proof, type VerificationFlow } from "@accountlink/core/flow";
import type { FlowId, SessionId } from "@accountlink/core/ids";
import { KeyStore } from "@accountlink/core/keys";
import {
  type CompleteFlow,
  type CreationBurst,
  type SessionStep,
  SessionStore,
} from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Option } from "effect";
import { makeFlow, makeKey, makeSession, uniqueText } from "../mod.ts";
import { linkSteps } from "./links/link_steps.ts";
import { ada, chess, makeScopes, origin } from "./scopes.ts";

const verificationSteps = Effect.fnUntraced(function* (key: ApiKey) {
  const [sessions, flows] = [yield* SessionStore, yield* FlowStore];
  const { scope } = key;
  const { pid } = scope;
  const links = yield* linkSteps(scope);

  const create = Effect.fnUntraced(function* (parts: Partial<VerificationSession> = {}) {
    const session = makeSession(key, parts);
    yield* sessions.create({ session, burst: null });
    return session;
  });

  const begin = Effect.fnUntraced(function* (
    session: SessionId | null = null,
    parts: Partial<VerificationFlow> = {},
  ) {
    const flow = makeFlow(scope, { session, ...parts });
    yield* flows.begin(flow);
    return flow.id;
  });

  const prove = (id: FlowId, proof: Proof, at: Millis = 0, nextId: FlowId = id) =>
    Effect.map(flows.prove(id, proof, at, nextId), Option.getOrNull);

  /** Begins a flow, and proves the chat user and the game user. */
  const proven = Effect.fnUntraced(function* (
    session: SessionId | null = null,
    chatId: ChatId = ada,
    gameId: GameId = chess,
  ) {
    const id = yield* begin(session);
    yield* prove(id, { step: "chat", chatId });
    yield* prove(id, { step: "game", game: { gameId, gameProof: "oauth" } });
    return id;
  });

  return {
    pid,
    key,
    links,
    /** The audit entries of the scope, oldest first, without the entries about keys. */
    entries: Effect.map(links.entries, (entries) =>
      entries.filter(({ action }) => !action.startsWith("key.")),
    ),
    create,
    take: (burst: CreationBurst, createdAt: Millis) => {
      const session = makeSession(key, { createdAt });
      return Effect.map(sessions.create({ session, burst }), (created) => ({ created, id: session.id }));
    },
    find: (id: SessionId) => Effect.map(sessions.find(id), Option.getOrNull),
    advance: (id: SessionId, to: SessionStep, at: Millis = 0) =>
      Effect.map(sessions.advance({ id, to, at }), Option.getOrNull),
    begin,
    findFlow: (id: FlowId, at: Millis = 0) => Effect.map(flows.find(id, at), Option.getOrNull),
    prove,
    proven,
    complete: (flow: FlowId, parts: Partial<CompleteFlow> = {}) =>
      sessions.complete({
        ...origin,
        pid,
        at: 0,
        flow,
        chatId: ada,
        gameId: chess,
        proof: "oauth",
        address: null,
        browser: null,
        ...parts,
      }),
    challenge: (flow: FlowId, stateHash: string, expiresAt: Millis = 100) =>
      flows.challenge({ stateHash, flow, step: "chat", expiresAt }),
    takeChallenge: (id: FlowId, state: string, at: Millis = 0) =>
      Effect.map(flows.takeChallenge(id, state, at), Option.getOrNull),
  };
});

export type VerificationSteps = Effect.Success<ReturnType<typeof verificationSteps>>;

export const storeKey = Effect.fnUntraced(function* (scope: ApiKey["scope"]) {
  const keys = yield* KeyStore;
  const key = makeKey(scope);
  yield* keys.insertKey({ ...origin, key, hash: uniqueText(), maxKeys: null, at: 0 });
  return key;
});

export const newVerificationSteps = Effect.gen(function* () {
  const { global } = yield* makeScopes;
  return yield* verificationSteps(yield* storeKey(global));
});

export const twoVerificationSteps = Effect.gen(function* () {
  const { global, guild } = yield* makeScopes;
  return [
    yield* verificationSteps(yield* storeKey(global)),
    yield* verificationSteps(yield* storeKey(guild)),
  ] as const;
});
