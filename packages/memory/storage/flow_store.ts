import type { ChatId, Pid } from "@accountlink/core";
import { FlowStore, type Proof, type VerificationFlow } from "@accountlink/core/flow";
import type { FlowId, SessionId } from "@accountlink/core/ids";
import { isFinal } from "@accountlink/core/sessions";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import { Option } from "effect";
import { layerOf, type Memory } from "./state.ts";

/** Finds flows and challenges in O(1), and the challenges of a flow by a scan. */
export const layer = layerOf(FlowStore, (memory) => {
  const { flows, challenges } = memory;
  const find = (id: FlowId, at: Millis) =>
    Option.filter(Option.fromUndefinedOr(flows.get(id)), ({ expiresAt }) => at < expiresAt);

  return {
    begin: (flow) => {
      assertStorable([flow.id, flow.redirect ?? ""]);
      memory.linksOf(flow.pid);
      refuseTaken("flow", flows.has(flow.id));
      flows.set(flow.id, flow);
    },

    find,

    challenge: (challenge) => {
      if (!flows.has(challenge.flow)) return false;
      refuseTaken("challenge", challenges.has(challenge.stateHash));
      challenges.set(challenge.stateHash, challenge);
      return true;
    },

    takeChallenge: (id, stateHash, at) => {
      const challenge = challenges.get(stateHash);
      if (challenge?.flow !== id || challenge.expiresAt <= at) return Option.none();
      if (Option.isNone(find(id, at))) return Option.none();
      challenges.delete(stateHash);
      return Option.some(challenge);
    },

    prove: (id, proof, at, nextId) => {
      const flow = Option.getOrUndefined(find(id, at));
      if (flow === undefined || (proof.step === "game" && flow.chatId === null)) return Option.none();
      assertStorable([nextId]);
      refuseTaken("flow", nextId !== id && flows.has(nextId));
      endFlow(memory, id);
      const proven = { ...flow, id: nextId, ...proofsOf(memory, flow, proof) };
      flows.set(nextId, proven);
      return Option.some(proven);
    },

    name: (id, gameId, at) => {
      const flow = Option.getOrUndefined(find(id, at));
      if (flow === undefined || flow.chatId === null) return false;
      flows.set(id, { ...flow, named: gameId });
      return true;
    },

    end: (id) => endFlow(memory, id),
  };
});

const refuseTaken = (what: string, isTaken: boolean): void => {
  if (isTaken) throw new Error(`Cannot store a ${what}: its id is taken, expected a new one`);
};

const proofsOf = (memory: Memory, { pid, chatId }: VerificationFlow, proof: Proof) => {
  const user = proof.step === "chat" ? proof.chatId : chatId;
  const { game = null } = proof;
  const connections = proof.step === "chat" ? { connections: proof.connections ?? [] } : {};
  if (game === null)
    return { chatId: user, gameId: null, gameProof: null, seenVersion: null, ...connections };
  const record = user === null ? undefined : memory.links.get(pid)?.find(user);
  return { chatId: user, ...game, seenVersion: record?.linkVersion ?? 0, ...connections };
};

export const endFlow = (memory: Memory, id: FlowId): void => {
  memory.flows.delete(id);
  for (const { stateHash, flow } of memory.challenges.values()) {
    if (flow === id) memory.challenges.delete(stateHash);
  }
};

/**
 * Ends the verifications in a scope: removes the proofs from flows, and lets unfinished sessions fail. Returns the IDs
 * of the failed sessions.
 *
 * @param chatId the chat user whose verifications end; null for all chat users
 */
export const endVerifications = (
  memory: Memory,
  pid: Pid,
  chatId: ChatId | null,
  at: Millis,
): ReadonlyArray<SessionId> => {
  const proven = new Set<SessionId>();
  for (const flow of memory.flows.values()) {
    if (flow.pid !== pid || flow.chatId === null || (chatId !== null && flow.chatId !== chatId)) continue;
    if (flow.session !== null) proven.add(flow.session);
    memory.flows.set(flow.id, {
      ...flow,
      chatId: null,
      gameId: null,
      gameProof: null,
      connections: [],
      named: null,
      seenVersion: flow.seenVersion ?? 0,
    });
  }
  const ended = Array.from(memory.sessions.values(), ({ session }) => session).filter(
    (session) =>
      !isFinal(session.state) &&
      session.pid === pid &&
      (chatId === null || session.chatId === chatId || proven.has(session.id)),
  );
  for (const session of ended) {
    const change = session.change + 1;
    memory.changeSession({ ...session, state: "failed", error: "link_removed", change }, at);
  }
  return ended.map(({ id }) => id);
};
