/** Sessions and flows, and how they end with a link. */
import type { ChatId, Pid } from "@accountlink/core";
import type { StoreEffect } from "@accountlink/core/errors";
import { verificationFlows } from "@accountlink/core/flow";
import type { SessionId } from "@accountlink/core/ids";
import { sessionEnded } from "@accountlink/core/journal";
import type { StoredCode } from "@accountlink/core/secrets";
import { isFinal, type VerificationSession } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Data, Effect, Result } from "effect";
import type { Database } from "../database.ts";
import { kvTable } from "../records.ts";
import { itemsOf } from "../steps.ts";
import { table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
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

export const flows = kvTable(verificationFlows);

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
      connections: null,
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

/** How many flows, and how many sessions, a transaction ends beside the removal of a link. */
export const endedPerStep = (tx: Transaction): number => itemsOf(tx, 30, { beside: 60, limit: 10 });

/** More verifications of a chat user are to end than a transaction ends. The chat user is null for all of the scope. */
export class ManyVerifications extends Data.TaggedError("ManyVerifications")<{
  readonly chatId: ChatId | null;
}> {}

/** Ends verifications as `endVerifications` does. Fails if they are many, so that others end them before. */
export const endLastVerifications = Effect.fnUntraced(function* (
  tx: Transaction,
  pid: Pid,
  chatId: ChatId | null,
  at: Millis,
): Effect.fn.Return<ReadonlyArray<SessionId>, Effect.Error<StoreEffect<never>> | ManyVerifications> {
  const prefix = chatId === null ? [pid] : [pid, chatId];
  const most = endedPerStep(tx);
  const proven = yield* tx.list(flows.proven, prefix, { limit: most + 1 });
  const open = yield* tx.list(sessions.open, prefix, { limit: most + 1 });
  if (Math.max(proven.length, open.length) > most) return yield* new ManyVerifications({ chatId });
  return yield* endVerifications(tx, pid, chatId, at);
});

/**
 * Makes a write that ends verifications. If they are many, ends most of them in small transactions before it. Returns
 * also the sessions that these ended, by chat user.
 */
export const endingVerifications = <A, E>(
  db: Database,
  { pid, at }: { readonly pid: Pid; readonly at: Millis },
  write: Effect.Effect<A, E | ManyVerifications>,
): Effect.Effect<readonly [A, Ended], Exclude<E, ManyVerifications> | Effect.Error<StoreEffect<never>>> =>
  Effect.gen(function* () {
    const before: Ended = new Map();
    for (;;) {
      const made = yield* Effect.result(write);
      if (Result.isSuccess(made)) return [made.success, before] as const;
      if (!(made.failure instanceof ManyVerifications)) {
        return yield* Effect.fail(made.failure as Exclude<E, ManyVerifications>);
      }
      const { chatId } = made.failure;
      const ended = yield* db.write(pid, (tx) => endVerifications(tx, pid, chatId, at, endedPerStep(tx)));
      before.set(chatId, [...(before.get(chatId) ?? []), ...ended]);
    }
  });

/** The sessions that were ended before a write, by chat user. */
type Ended = Map<ChatId | null, ReadonlyArray<SessionId>>;

/** Adds the sessions of a chat user that were ended before; of all of the scope if the chat user is null. */
export const withEnded = <R extends { readonly ended: ReadonlyArray<SessionId> }>(
  removed: R,
  chatId: ChatId | null,
  before: Ended,
): R => ({ ...removed, ended: [...(before.get(chatId) ?? []), ...removed.ended] });
