import { type ChatId, type Millis, type Pid, type SessionFailure, type SessionId } from "@accountlink/core";
import type { Memory } from "./state.ts";

const failure: SessionFailure = "link_removed";

/**
 * Takes the proofs out of the flows of a scope, and ends its unfinished sessions.
 *
 * @param chatId whose proofs and sessions, or null for those of everybody
 * @returns the sessions that ended
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
    memory.flows.set(flow.id, { ...flow, chatId: null, gameId: null, seenVersion: flow.seenVersion ?? 0 });
  }
  const ended = memory.sessions.unfinished(
    (session) =>
      session.pid === pid && (chatId === null || session.chatId === chatId || proven.has(session.id)),
  );
  for (const session of ended) {
    memory.sessions.change({ ...session, state: "failed", error: failure, change: session.change + 1 }, at);
  }
  return ended.map(({ id }) => id);
};
