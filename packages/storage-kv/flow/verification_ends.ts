import type { ChatId, Pid } from "@accountlink/core";
import { newEvent, sessionEnded } from "@accountlink/core/events";
import { voidedFlow } from "@accountlink/core/flow";
import { failedSession } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { appendEvents } from "../events/append_events.ts";
import { flows, sessions } from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";

/**
 * Removes proofs from the flows of a scope, fails its unfinished sessions, and returns these.
 *
 * @param chatId the chat user; null for all of them
 */
export const endVerifications = Effect.fnUntraced(function* (
  tx: Transaction,
  pid: Pid,
  chatId: ChatId | null,
  at: Millis,
) {
  const proven = yield* flows.list(tx, "proven", chatId === null ? [pid] : [pid, chatId]);
  for (const flow of proven) yield* flows.put(tx, voidedFlow(flow));
  const theirs = new Set(proven.map(({ session }) => session));
  const open = yield* sessions.list(tx, "open", [pid]);
  const ended = open.filter(
    ({ session }) => chatId === null || session.chatId === chatId || theirs.has(session.id),
  );
  for (const found of ended) {
    const failed = failedSession(found.session);
    yield* sessions.put(tx, { ...found, session: failed, changedAt: at });
    yield* appendEvents(
      tx,
      pid,
      sessionEnded(failed).map((end) => newEvent(at, end)),
    );
  }
  return ended.map(({ session }) => session.id);
});
