import { FlowStore, type Proof, type VerificationFlow } from "@accountlink/core/flow";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Option } from "effect";
import type { Transaction } from "../transaction.ts";
import { findRecord } from "./links.ts";
import { scopeAt } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";
import { challenges, endFlow, flows, storeChallenge } from "./verifications.ts";

const findAt = Effect.fnUntraced(function* (tx: Transaction, id: string, at: number) {
  const flow = yield* tx.get(flows, id);
  return flow !== undefined && at < flow.expiresAt ? flow : undefined;
});

const refuseTaken = (what: string, taken: object | undefined): void => {
  if (taken !== undefined) throw new Error(`Cannot store a ${what}: its id is taken, expected a new one`);
};

export const layer = storeLayer(FlowStore, (db) => ({
  begin: (flow) =>
    db.write(flow.id, function* (tx) {
      assertStorable([flow.id, flow.redirect ?? ""]);
      yield* scopeAt(tx, flow.pid);
      refuseTaken("flow", yield* tx.get(flows, flow.id));
      yield* tx.put(flows, flow);
    }),

  find: (id, at) =>
    db.read(function* (tx) {
      return Option.fromUndefinedOr(yield* findAt(tx, id, at));
    }),

  challenge: (challenge) =>
    db.write(challenge.flow, function* (tx) {
      if ((yield* tx.get(flows, challenge.flow)) === undefined) return false;
      refuseTaken("challenge", yield* tx.get(challenges, challenge.stateHash));
      yield* storeChallenge(tx, challenge);
      return true;
    }),

  takeChallenge: (id, stateHash, at) =>
    db.write(id, function* (tx) {
      const challenge = yield* tx.get(challenges, stateHash);
      if (challenge?.flow !== id || challenge.expiresAt <= at) return Option.none();
      if ((yield* findAt(tx, id, at)) === undefined) return Option.none();
      yield* tx.remove(challenges, stateHash);
      return Option.some(challenge);
    }),

  prove: (id, proof, at, nextId) =>
    db.write(id, function* (tx) {
      const flow = yield* findAt(tx, id, at);
      if (flow === undefined || (proof.step === "game" && flow.chatId === null)) return Option.none();
      assertStorable([nextId]);
      if (nextId !== id) refuseTaken("flow", yield* tx.get(flows, nextId));
      yield* endFlow(tx, id);
      const proven = { ...flow, id: nextId, ...(yield* proofsOf(tx, flow, proof)) };
      yield* tx.put(flows, proven);
      return Option.some(proven);
    }),

  name: (id, gameId, at) =>
    db.write(id, function* (tx) {
      const flow = yield* findAt(tx, id, at);
      if (flow === undefined || flow.chatId === null) return false;
      yield* tx.put(flows, { ...flow, named: gameId });
      return true;
    }),

  end: (id) => db.write(id, (tx) => endFlow(tx, id)),
}));

const proofsOf = Effect.fnUntraced(function* (
  tx: Transaction,
  { pid, chatId }: VerificationFlow,
  proof: Proof,
) {
  const user = proof.step === "chat" ? proof.chatId : chatId;
  const { game = null } = proof;
  const connections = proof.step === "chat" ? { connections: proof.connections ?? [] } : {};
  if (game === null) {
    return { chatId: user, gameId: null, gameProof: null, seenVersion: null, ...connections };
  }
  const found = user === null ? undefined : yield* findRecord(tx, pid, user);
  return { chatId: user, ...game, seenVersion: found?.linkVersion ?? 0, ...connections };
});
