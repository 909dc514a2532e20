/**
 * The changes that unlinks, deletions of scopes and erasures make to verifications, in their transactions.
 *
 * Lock order of all writes, to avoid deadlocks: scope, record of the chat user, flows, sessions, then rows that only
 * the holder of these locks writes.
 *
 * - A deletion of a scope locks the scope FOR UPDATE. Completions, moves and imports first lock it FOR KEY SHARE, or
 *   FOR NO KEY UPDATE if it allows one chat user for each game user, so they never overlap with a deletion. An unlink locks the record of its chat user, as the deletion does. So
 *   transactions of the same chat user are serialized before they lock flows.
 * - Sessions are locked in the order of their sids, since two chat users can share sessions.
 * - A completion for a chat user without a record inserts one before it locks the flow, and rolls back if it is
 *   refused or another transaction was first.
 * - A proof of a chat account locks the record before its flow, so an unlink either sees the proof or comes first. A
 *   proof of a game account and the end of a flow lock only the flow.
 * - Creating and advancing lock one session, and the scope only FOR KEY SHARE.
 * - A sweep skips locked rows.
 * - An erasure locks the user's accounts, the scopes of these accounts, then the user's records by pid. Before that,
 *   it blocks writes that name the user and that it could not see before their commit: requests under an idempotency
 *   key, and proofs.
 */
import type { ChatId, Pid } from "@accountlink/core";
import { groupBy } from "@accountlink/core/group_by";
import { SessionId } from "@accountlink/core/ids";
import { sessionEnded } from "@accountlink/core/journal";
import type { SessionFailure } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { insertRecords } from "../journal/records.ts";
import { dialectOf } from "../statements/dialect.ts";
import { columnReader } from "../statements/row.ts";
import { readSessionIds, readSessions, sessionColumns, unfinished } from "./session_row.ts";

const failure: SessionFailure = "link_removed";

/**
 * Removes proofs from flows, fails unfinished sessions, and returns the failed sessions. A null pid means every scope, a
 * null chat ID every chat user.
 */
export const endVerifications = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  pid: Pid | null,
  chatId: ChatId | null,
  at: Millis,
) {
  const { forUpdate, isAmong } = dialectOf(sql);
  const inScope = pid === null ? sql`1 = 1` : sql`pid = ${pid}`;
  const owner = chatId === null ? inScope : sql`${inScope} AND chat_id = ${chatId}`;
  const proven = yield* readFlowSessions(sql`
    UPDATE verification_flows
    SET chat_id = NULL, game_id = NULL, game_proof = NULL, connections = NULL, named_game_id = NULL,
      seen_version = COALESCE(seen_version, 0)
    WHERE ${owner} AND chat_id IS NOT NULL
    RETURNING sid`);
  const named = yield* readSessionIds(
    sql`SELECT sid FROM verification_sessions WHERE ${owner} AND ${unfinished}`,
  );
  const sids = [...new Set([...named, ...proven.filter((sid) => sid !== null)])];
  if (sids.length === 0) return sids;

  // IS TRUE keeps Postgres from reading all unfinished sessions by a partial index.
  const locked = yield* readSessionIds(sql`
    SELECT sid FROM verification_sessions
    WHERE sid ${isAmong(JSON.stringify(sids))} AND ${inScope} AND (${unfinished}) IS TRUE ORDER BY sid ${forUpdate}`);
  const failed = yield* readSessions(sql`
    UPDATE verification_sessions
    SET state = 'failed', error = ${failure}, change = change + 1, changed_at = ${at}
    WHERE sid ${isAmong(JSON.stringify(locked))}
    RETURNING ${sessionColumns}`);
  for (const [scope, sessions] of groupBy(failed, (session) => session.pid)) {
    const ends = sessions.flatMap((session) => sessionEnded(session, at));
    yield* insertRecords(sql, scope, ends);
  }
  return locked;
});

const readFlowSessions = columnReader("verification_flows", "sid", Schema.NullOr(SessionId));
