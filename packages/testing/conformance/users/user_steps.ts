import {
  AuditLog,
  type ChatId,
  type DataScope,
  type GameId,
  LinkStore,
  type Pid,
  type StoreUnavailable,
} from "@accountlink/core";
import type { AuditEntry } from "@accountlink/core/audit";
import { FlowStore, type VerificationFlow } from "@accountlink/core/flow";
import type { IdempotentRequest, Once } from "@accountlink/core/idempotency";
import { KeyStore } from "@accountlink/core/keys";
import { SessionStore } from "@accountlink/core/sessions";
import { type UserErased, UserStore } from "@accountlink/core/users";
import { Effect, Option } from "effect";
import { makeFlow, makeKey, uniqueChatId, uniqueText } from "../../mod.ts";
import { commit, idempotencySteps } from "../idempotency/idempotency_steps.ts";
import { makeScopes, origin } from "../scopes.ts";

const addressOf = (hash: string) => ({ hash, sealed: "sealed", addressKeyId: "k1" });

/** Creates a chat user and the operations that store their data. */
export const newUserSteps = Effect.gen(function* () {
  const [links, sessions, flows] = [yield* LinkStore, yield* SessionStore, yield* FlowStore];
  const [keys, log, users] = [yield* KeyStore, yield* AuditLog, yield* UserStore];
  const { find: findRequest } = yield* idempotencySteps;
  const chatId = uniqueChatId();

  const insertKey = Effect.fnUntraced(function* (scope: DataScope) {
    const key = makeKey(scope, {
      name: "Ours",
      allowIps: ["192.0.2.1"],
      redirectOrigins: ["https://a.example"],
      madeBy: chatId,
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
    setOnce: ({ pid }: DataScope, gameId: GameId, request: IdempotentRequest) =>
      commit(request, (once?: Once) => links.setGame({ ...origin, pid, at: 0, chatId, gameId, once })),
    recordOf: ({ pid }: DataScope, of: ChatId = chatId) =>
      Effect.map(links.findByChatId(pid, of), Option.getOrNull),
    see: ({ pid }: DataScope) =>
      sessions.recordSightings(pid, [{ chatId, address: addressOf("hash"), seenAt: 0 }]),
    findRequest,
    /** Begins a flow, and proves the chat user and the game user. */
    prove: Effect.fnUntraced(function* (scope: DataScope, gameId: GameId) {
      const flow = makeFlow(scope);
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
        address: addressOf("seen"),
        browser: "browser",
      }),
    entries: (account: string) =>
      Effect.map(log.list(account, null, 1_000), ({ entries }) => entries.toReversed()),
    find: Effect.gen(function* () {
      const entries: Array<AuditEntry> = [];
      for (let page = yield* users.entries(chatId, null, 2); page.length > 0; ) {
        entries.push(...page);
        page = yield* users.entries(chatId, page.at(-1) ?? null, 2);
      }
      return { ...(yield* users.find(chatId)), entries };
    }),
    erase,
    eraseAll,
  };
});
