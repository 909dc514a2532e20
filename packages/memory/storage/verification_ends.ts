import type { ChatId, Pid } from "@accountlink/core";
import { newEvent, sessionEnded } from "@accountlink/core/events";
import type { SessionId } from "@accountlink/core/ids";
import type { Millis } from "@accountlink/core/timestamp";
import type { Memory } from "./state/state.ts";

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
    memory.flows.set(flow.id, { ...flow, chatId: null, gameId: null, seenVersion: flow.seenVersion ?? 0 });
  }
  const ended = memory.sessions.unfinished(
    (session) =>
      session.pid === pid && (chatId === null || session.chatId === chatId || proven.has(session.id)),
  );
  for (const session of ended) {
    const change = session.change + 1;
    const failed = { ...session, state: "failed", error: "link_removed", change } as const;
    memory.sessions.change(failed, at);
    memory.append(pid, ...sessionEnded(failed).map((end) => newEvent(at, end)));
  }
  return ended.map(({ id }) => id);
};
