/** How verifications end with a link, a scope or a user, in the transactions of several stores. */
import { Effect } from "effect";
import { verificationFlows } from "./flow/flow_store.ts";
import type { ChatId, Pid, SessionId } from "./ids.ts";
import { sessionEnded } from "./journal/changes.ts";
import { keysOfAll, type Tx } from "./records/records.ts";
import {
  advancedSession,
  canAdvance,
  isFinal,
  type SessionRecord,
  verificationSessions,
} from "./sessions/session_store.ts";
import type { Millis } from "./timestamp.ts";

/** Verifications that end: of a chat user in a scope, or of all chat users if `chatId` is null. */
export interface EndingVerifications {
  readonly pid: Pid;
  readonly chatId: ChatId | null;
  readonly at: Millis;
  /** The session that the same write completes. */
  readonly spares?: SessionId | undefined;
}

/** Finds up to `limit` flows that proved a chat user, and as many open sessions. @internal */
export const findVerifications = Effect.fnUntraced(function* (
  tx: Tx,
  { pid, chatId }: Pick<EndingVerifications, "pid" | "chatId">,
  limit: number,
) {
  const prefix = chatId === null ? [pid] : [pid, chatId];
  const { open, openByUser } = verificationSessions;
  const proven = yield* tx.list(verificationFlows.proven, prefix, { limit });
  const sessions = yield* tx.list(chatId === null ? open : openByUser, prefix, { limit });
  return { proven, sessions, most: Math.max(proven.length, sessions.length) };
});

/**
 * Removes the proofs from up to `limit` flows, and lets their sessions and as many others fail, or expire after their
 * deadline. Returns the IDs of these sessions, and whether more may be left.
 *
 * @param isErased whether the sessions forget the chat user
 * @internal
 */
export const endSomeVerifications = Effect.fnUntraced(function* (
  tx: Tx,
  ending: EndingVerifications,
  limit: number,
  isErased = false,
) {
  const { pid, chatId, at, spares } = ending;
  const { proven, sessions, most } = yield* findVerifications(tx, ending, limit);
  if (most === 0) return { ended: [], isMore: false };
  // Flows are locked before sessions, each by their IDs, so that two writes cannot deadlock.
  const flows = (yield* tx.getAll(verificationFlows, keysOfAll(verificationFlows, proven))).filter(
    (flow) => flow.chatId !== null && (chatId === null || flow.chatId === chatId),
  );
  yield* tx.putAll(
    verificationFlows,
    flows.map((flow) => ({
      ...flow,
      chatId: null,
      gameId: null,
      gameProof: null,
      connections: null,
      named: null,
      seenVersion: flow.seenVersion ?? 0,
    })),
  );
  const ids = new Set([...flows.flatMap(({ session }) => session ?? []), ...sessions.map(({ id }) => id)]);
  const found = yield* tx.getAll(
    verificationSessions,
    [...ids].toSorted().map((id) => [id]),
  );
  const ended = found
    .filter(({ id, pid: of, state }) => of === pid && id !== spares && !isFinal(state))
    .map((session) => ({ ...endedSession(session, at), changedAt: at }));
  yield* tx.putAll(
    verificationSessions,
    ended.map((session) => ({
      ...session,
      ...(isErased && session.chatId === chatId && { chatId: null }),
    })),
  );
  yield* tx.tell(
    pid,
    ended.flatMap((session) => sessionEnded(session, at)),
  );
  return { ended: ended.map(({ id }) => id), isMore: most === limit };
});

/** A session past its deadline has expired already, although no sweep has stored it. */
const endedSession = (session: SessionRecord, at: Millis): SessionRecord =>
  canAdvance(session, "expired", at)
    ? advancedSession(session, "expired")
    : { ...session, state: "failed", error: "link_removed", change: session.change + 1 };

/** How many flows and sessions a pass of a write that is not bounded ends. */
const endedPerPass = 500;

/** Ends all verifications, in a storage whose writes are not bounded. Returns their sessions. @internal */
export const endVerifications = Effect.fnUntraced(function* (tx: Tx, ending: EndingVerifications) {
  const sessions: Array<SessionId> = [];
  for (;;) {
    const { ended, isMore } = yield* endSomeVerifications(tx, ending, endedPerPass);
    sessions.push(...ended);
    if (!isMore) return sessions;
  }
});

/**
 * Ends verifications of a user in all scopes, and deletes ended sessions of the user, until the step is over. Returns false
 * once no flow and no session names the user.
 *
 * @param most how many flows and sessions it reads at most
 * @internal
 */
export const forgetInSessions = Effect.fnUntraced(function* (
  tx: Tx,
  chatId: ChatId,
  at: Millis,
  most = endedPerPass,
  isOver: () => boolean = tx.isFull,
) {
  const flows = yield* tx.list(verificationFlows.byUser, [chatId], { limit: most });
  const sessions = yield* tx.list(verificationSessions.byUser, [chatId], { limit: most });
  const ended = sessions.filter(({ state }) => isFinal(state));
  const open = sessions.filter(({ state }) => !isFinal(state));
  yield* tx.removeAll(verificationSessions, keysOfAll(verificationSessions, ended));
  const pids = new Set([...flows, ...open].map(({ pid }) => pid));
  for (const pid of [...pids].toSorted()) {
    if (isOver()) return true;
    yield* endSomeVerifications(tx, { pid, chatId, at }, most, true);
  }
  return flows.length + sessions.length > 0;
});
