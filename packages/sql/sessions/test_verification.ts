/** For tests: sessions and flows of a key. */

import { ChatId, GameId, type VerificationSession } from "@accountlink/core";
import { FlowStore, type VerificationFlow } from "@accountlink/core/flow";
import { type FlowId, SessionId } from "@accountlink/core/ids";
import { KeyStore } from "@accountlink/core/keys";
import { SessionStore } from "@accountlink/core/sessions";
import { makeFlow, makeKey, makeSession } from "@accountlink/testing";
import { Effect } from "effect";
import { origin, scope } from "../sqlite/test_tampering.ts";

export const chatId = ChatId.make("10001");
export const gameId = GameId.make("1");
const deadline = 1_000;

export const key = makeKey(scope);

export const sessionIdOf = (number: number): SessionId =>
  SessionId.make(`vs_${`${number}`.padStart(43, "0")}`);

export const sessionOf = (number: number): VerificationSession =>
  makeSession(key, { id: sessionIdOf(number), expiresAt: deadline });

export const flowOf = (number: number, session: SessionId | null = null): VerificationFlow =>
  makeFlow(scope, { id: `flow ${number}` as FlowId, session, expiresAt: deadline });

/** The write that confirms a flow. */
export const completionOf = (number: number) => ({
  ...origin,
  pid: scope.pid,
  at: 1,
  flow: flowOf(number).id,
  chatId,
  gameId,
  proof: "oauth" as const,
  address: { hash: "hash", sealed: "sealed", addressKeyId: "k1" },
  browser: null,
});

/** Stores the API key that owns the sessions. */
export const storeKey = KeyStore.use((keys) =>
  keys.insertKey({ ...origin, key, hash: "hash", maxKeys: null, at: 1 }),
);

/** Stores a flow with both proofs, and its session if given. */
export const storeProven = Effect.fnUntraced(function* (
  number: number,
  session: VerificationSession | null = null,
) {
  const [sessions, flows] = [yield* SessionStore, yield* FlowStore];
  if (session !== null) yield* sessions.create({ session, burst: null });
  const { id, ...flow } = flowOf(number, session?.id ?? null);
  yield* flows.begin({ id, ...flow });
  yield* flows.prove(id, { step: "chat", chatId }, 0, id);
  yield* flows.prove(id, { step: "game", game: { gameId, gameProof: "oauth" } }, 0, id);
});
