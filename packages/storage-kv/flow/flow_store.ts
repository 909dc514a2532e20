import {
  FlowStore,
  type Proof,
  provenFlow,
  type SignInChallenge,
  type VerificationFlow,
} from "@accountlink/core/flow";
import type { FlowId } from "@accountlink/core/ids";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Layer, Option } from "effect";
import { requireScope } from "../keys/accounts.ts";
import { Database } from "../records/database.ts";
import { challenges, flows, links } from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";

export const layer: Layer.Layer<FlowStore, never, Database> = Layer.effect(
  FlowStore,
  Effect.map(Database, (db) =>
    FlowStore.of({
      begin: (flow) => db.write("FlowStore.begin", (tx) => begin(tx, flow)),
      find: (id, at) =>
        db.find("FlowStore.find", (tx) => Effect.map(findFlow(tx, id, at), Option.fromUndefinedOr)),
      challenge: (challenge) => db.write("FlowStore.challenge", (tx) => keepChallenge(tx, challenge)),
      takeChallenge: (id, stateHash, at) =>
        db.write("FlowStore.takeChallenge", (tx) => takeChallenge(tx, id, stateHash, at)),
      prove: (id, proof, at, nextId) => db.write("FlowStore.prove", (tx) => prove(tx, id, proof, at, nextId)),
      end: (id) => db.write("FlowStore.end", (tx) => endFlow(tx, id)),
    }),
  ),
);

const begin = Effect.fnUntraced(function* (tx: Transaction, flow: VerificationFlow) {
  yield* requireScope(tx, flow.pid);
  if ((yield* flows.find(tx, flow.id)) !== undefined) {
    throw new Error("Cannot begin a flow: its id is taken, expected a new one");
  }
  yield* flows.put(tx, flow);
});

const findFlow = (tx: Transaction, id: FlowId, at: Millis) =>
  Effect.map(flows.find(tx, id), (flow) => (flow !== undefined && at < flow.expiresAt ? flow : undefined));

const keepChallenge = Effect.fnUntraced(function* (tx: Transaction, challenge: SignInChallenge) {
  if ((yield* flows.find(tx, challenge.flow)) === undefined) return false;
  if ((yield* challenges.find(tx, challenge.stateHash)) !== undefined) {
    throw new Error("Cannot keep a challenge: its state is taken, expected a new one");
  }
  yield* challenges.put(tx, challenge);
  return true;
});

const takeChallenge = Effect.fnUntraced(function* (
  tx: Transaction,
  id: FlowId,
  stateHash: string,
  at: Millis,
) {
  const challenge = yield* challenges.find(tx, stateHash);
  const isAlive = (yield* findFlow(tx, id, at)) !== undefined;
  if (challenge?.flow !== id || challenge.expiresAt <= at || !isAlive) return Option.none<SignInChallenge>();
  yield* challenges.remove(tx, stateHash);
  return Option.some(challenge);
});

const prove = Effect.fnUntraced(function* (
  tx: Transaction,
  id: FlowId,
  proof: Proof,
  at: Millis,
  nextId: FlowId,
) {
  const flow = yield* findFlow(tx, id, at);
  if (flow === undefined) return Option.none<VerificationFlow>();
  const found = flow.chatId === null ? undefined : yield* links.find(tx, flow.pid, flow.chatId);
  const proven = provenFlow(flow, proof, nextId, found?.record);
  if (proven === null) return Option.none<VerificationFlow>();
  if (nextId !== id && (yield* flows.find(tx, nextId)) !== undefined) {
    throw new Error("Cannot rename a flow: the id is taken, expected a new one");
  }
  yield* endFlow(tx, id);
  yield* flows.put(tx, proven);
  return Option.some(proven);
});

/** Removes a flow with its challenges. */
export const endFlow = Effect.fnUntraced(function* (tx: Transaction, id: FlowId) {
  yield* flows.remove(tx, id);
  for (const { stateHash } of yield* challenges.list(tx, "flow", [id]))
    yield* challenges.remove(tx, stateHash);
});
