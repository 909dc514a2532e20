import { FlowStore, type Proof, type SignInChallenge, type VerificationFlow } from "@accountlink/core/flow";
import type { FlowId } from "@accountlink/core/ids";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Option } from "effect";
import { layerOf, type Memory } from "./state/state.ts";

/** Finds flows and challenges in O(1), and the challenges of a flow by a scan. */
export const layer = layerOf(FlowStore, (memory) => ({
  begin: (flow) => begin(memory, flow),
  find: (id, at) => Option.fromUndefinedOr(findFlow(memory, id, at)),
  challenge: (challenge) => keepChallenge(memory, challenge),
  takeChallenge: (id, stateHash, at) => takeChallenge(memory, id, stateHash, at),
  prove: (id, proof, at, nextId) => prove(memory, id, proof, at, nextId),
  end: (id) => endFlow(memory, id),
}));

const begin = (memory: Memory, flow: VerificationFlow): void => {
  assertStorable([flow.id, flow.redirect ?? ""]);
  memory.linksOf(flow.pid);
  if (memory.flows.has(flow.id)) throw new Error("Cannot begin a flow: its id is taken, expected a new one");
  memory.flows.set(flow.id, flow);
};

const findFlow = (memory: Memory, id: FlowId, at: Millis): VerificationFlow | undefined => {
  const flow = memory.flows.get(id);
  return flow !== undefined && at < flow.expiresAt ? flow : undefined;
};

const keepChallenge = (memory: Memory, challenge: SignInChallenge): boolean => {
  const { stateHash, flow } = challenge;
  if (!memory.flows.has(flow)) return false;
  if (memory.challenges.has(stateHash)) {
    throw new Error("Cannot keep a challenge: its state is taken, expected a new one");
  }
  memory.challenges.set(stateHash, challenge);
  return true;
};

const takeChallenge = (
  memory: Memory,
  id: FlowId,
  stateHash: string,
  at: Millis,
): Option.Option<SignInChallenge> => {
  const challenge = memory.challenges.get(stateHash);
  const isAlive = findFlow(memory, id, at) !== undefined;
  if (challenge?.flow !== id || challenge.expiresAt <= at || !isAlive) return Option.none();
  memory.challenges.delete(stateHash);
  return Option.some(challenge);
};

const prove = (
  memory: Memory,
  id: FlowId,
  proof: Proof,
  at: Millis,
  nextId: FlowId,
): Option.Option<VerificationFlow> => {
  const flow = findFlow(memory, id, at);
  if (flow === undefined || (proof.step === "game" && flow.chatId === null)) return Option.none();
  assertStorable([nextId]);
  if (nextId !== id && memory.flows.has(nextId)) {
    throw new Error("Cannot rename a flow: the id is taken, expected a new one");
  }
  endFlow(memory, id);
  const proven = { ...flow, id: nextId, ...proofsOf(memory, flow, proof) };
  memory.flows.set(nextId, proven);
  return Option.some(proven);
};

const proofsOf = (memory: Memory, { pid, chatId }: VerificationFlow, proof: Proof) => {
  if (proof.step === "chat") return { chatId: proof.chatId, gameId: null, seenVersion: null };
  const record = chatId === null ? undefined : memory.links.get(pid)?.find(chatId);
  return { gameId: proof.gameId, seenVersion: record?.linkVersion ?? 0 };
};

export const endFlow = (memory: Memory, id: FlowId): void => {
  memory.flows.delete(id);
  for (const { stateHash, flow } of memory.challenges.values()) {
    if (flow === id) memory.challenges.delete(stateHash);
  }
};
