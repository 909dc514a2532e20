/** Sessions and flows, and how they end with a link. */
import type { ChatId, Pid } from "@accountlink/core";
import type { StoreEffect } from "@accountlink/core/errors";
import type { SignInChallenge, VerificationFlow } from "@accountlink/core/flow";
import type { FlowId, SessionId } from "@accountlink/core/ids";
import { sessionEnded } from "@accountlink/core/journal";
import type { StoredCode } from "@accountlink/core/secrets";
import { isFinal, type VerificationSession } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { stepSize } from "../steps.ts";
import { table } from "../table.ts";
import type { Database, Transaction } from "../transaction.ts";
import { record } from "./journal.ts";

export interface StoredSession {
  readonly session: VerificationSession;
  readonly code: StoredCode | undefined;
  /** The time of the last change; null before the first. */
  readonly changedAt: Millis | null;
}

const isOpen = ({ session }: StoredSession) => !isFinal(session.state);

export const sessions = table<StoredSession>()("session", ({ session }) => [session.id], {
  byCode: {
    keys: (stored) =>
      stored.code === undefined ? [] : [[stored.code.hash, Number(isOpen(stored)), stored.session.id]],
    group: 1,
  },
  open: {
    keys: (stored) =>
      isOpen(stored) ? [[stored.session.pid, stored.session.chatId ?? "", stored.session.id]] : [],
    group: 1,
  },
  openByEnd: {
    keys: (stored) => (isOpen(stored) ? [[stored.session.expiresAt, stored.session.id]] : []),
  },
  finalByEnd: {
    keys: (stored) => (isOpen(stored) ? [] : [[stored.session.expiresAt, stored.session.id]]),
  },
  byUser: {
    keys: ({ session }) => (session.chatId === null ? [] : [[session.chatId, session.id]]),
    group: 1,
  },
  byKey: { keys: ({ session }) => [[session.keyId, session.id]], group: 1 },
  changed: { keys: ({ session, changedAt }) => (changedAt === null ? [] : [[changedAt, session.id]]) },
});

export const flows = table<VerificationFlow>()("flow", ({ id }) => [id], {
  /** The flows that proved a chat user. */
  proven: { keys: ({ pid, chatId, id }) => (chatId === null ? [] : [[pid, chatId, id]]), group: 1 },
  byUser: { keys: ({ chatId, id }) => (chatId === null ? [] : [[chatId, id]]), group: 1 },
  byEnd: { keys: ({ expiresAt, id }) => [[expiresAt, id]] },
});

export const challenges = table<SignInChallenge>()("challenge", ({ stateHash }) => [stateHash], {
  byFlow: { keys: ({ flow, stateHash }) => [[flow, stateHash]], group: 1 },
});

/** Stores a changed session, and appends the event of its end. */
export const changeSession = Effect.fnUntraced(function* (
  tx: Transaction,
  session: VerificationSession,
  at: Millis,
) {
  const code = (yield* tx.get(sessions, session.id))?.code;
  yield* tx.put(sessions, { session, code, changedAt: at });
  yield* record(tx, session.pid, ...sessionEnded(session, at));
});

export const endFlow = Effect.fnUntraced(function* (tx: Transaction, id: FlowId) {
  yield* tx.remove(flows, id);
  for (const { stateHash } of yield* tx.list(challenges.byFlow, [id]))
    yield* tx.remove(challenges, stateHash);
});

/**
 * Ends the verifications in a scope: removes the proofs from flows, and lets unfinished sessions fail. Returns the IDs
 * of the failed sessions.
 *
 * @param chatId the chat user whose verifications end; null for all chat users
 */
export const endVerifications = Effect.fnUntraced(function* (
  tx: Transaction,
  pid: Pid,
  chatId: ChatId | null,
  at: Millis,
  limit = Infinity,
): Effect.fn.Return<ReadonlyArray<SessionId>, Effect.Error<StoreEffect<never>>> {
  const prefix = chatId === null ? [pid] : [pid, chatId];
  const ending = new Map<SessionId, VerificationSession>();
  for (const flow of yield* tx.list(flows.proven, prefix, { limit })) {
    const proven = flow.session === null ? undefined : yield* tx.get(sessions, flow.session);
    if (proven !== undefined && isOpen(proven) && proven.session.pid === pid) {
      ending.set(proven.session.id, proven.session);
    }
    yield* tx.put(flows, {
      ...flow,
      chatId: null,
      gameId: null,
      gameProof: null,
      connections: [],
      named: null,
      seenVersion: flow.seenVersion ?? 0,
    });
  }
  for (const { session } of yield* tx.list(sessions.open, prefix, { limit })) ending.set(session.id, session);
  for (const session of ending.values()) {
    const change = session.change + 1;
    yield* changeSession(tx, { ...session, state: "failed", error: "link_removed", change }, at);
  }
  return [...ending.keys()];
});

/** Ends most verifications of a scope in small transactions, so that few are left for the one that deletes its data. */
export const endManyVerifications = Effect.fnUntraced(function* (db: Database, pid: Pid, at: Millis) {
  const ended: Array<SessionId> = [];
  for (;;) {
    const open = yield* db.read(function* (tx) {
      const { length } = yield* tx.list(flows.proven, [pid], { limit: stepSize });
      return Math.max(length, yield* tx.count(sessions.open, [pid]));
    });
    if (open < stepSize) return ended;
    ended.push(
      ...(yield* db.write(pid, function* (tx) {
        return yield* endVerifications(tx, pid, null, at, stepSize);
      })),
    );
  }
});
