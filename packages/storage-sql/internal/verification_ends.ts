/**
 * What a removal of a link and a deletion of a scope do to verifications, in their transactions.
 *
 * All who write here and to links lock in one order, so that no two of them ever wait for each other: the scope, the
 * record of the chat user, flows, sessions, and what only the holder of those writes.
 *
 * - A deletion locks the scope itself, and so excludes whoever completes a flow, moves or imports: they refer to the
 *   scope before anything else. A removal has the record of its chat user, whose deletion waits for it or it for that.
 *   So of two that lock several flows or sessions of the same chat user one has waited before it locked any.
 * - Sessions are locked in the order of their sids, since two chat users can walk through the same ones.
 * - Who completes a flow of a chat user without a record has none to lock. It adds one when it has everything else, and
 *   does not wait for one that was added meanwhile: that one refuses it.
 * - A proof of a chat account locks the record before its flow: it is there before a removal, which takes it, or comes
 *   after it. That of a game account locks nothing but its flow, and so does the end of a flow.
 * - Creating and advancing lock one session and nothing that is locked before sessions but a scope, to refer to it.
 * - A sweep leaves out what is locked.
 * - An erasure locks accounts of its user and their scopes, then the records of its user in the order of their pids.
 */
import type { ChatId, Millis, Pid, SessionFailure } from "@accountlink/core";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { dialectOf } from "./dialect.ts";
import { readFlowSessions } from "./flow_row.ts";
import { readSessionIds, unfinished } from "./session_row.ts";

const failure: SessionFailure = "link_removed";

/**
 * Takes the proofs out of flows, and ends unfinished sessions.
 *
 * @returns a function that takes the scope, or null for every scope, and whose proofs and sessions, or null for those of
 * everybody, and gives the sessions that it ended
 */
export const endVerificationsOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate, isAmong, isAnyOf } = dialectOf(sql);
  const isUnfinished = sql.literal(unfinished);
  const everyScope = sql`SELECT pid FROM scopes`;

  return Effect.fnUntraced(function* (pid: Pid | null, chatId: ChatId | null, at: Millis) {
    const inScope = pid === null ? sql`pid ${isAnyOf(everyScope)}` : sql`pid = ${pid}`;
    const owner = chatId === null ? inScope : sql`${inScope} AND chat_id = ${chatId}`;
    const proven = yield* Effect.flatMap(
      sql`
        UPDATE verification_flows SET chat_id = NULL, game_id = NULL, seen_version = COALESCE(seen_version, 0)
        WHERE ${owner} AND chat_id IS NOT NULL
        RETURNING sid`,
      readFlowSessions,
    );
    const named = yield* Effect.flatMap(
      sql`SELECT sid FROM verification_sessions WHERE ${owner} AND ${isUnfinished}`,
      readSessionIds,
    );
    const sids = [...new Set([...named, ...proven.filter((sid) => sid !== null)])];
    if (sids.length === 0) return sids;

    const locked = yield* Effect.flatMap(
      sql`
        SELECT sid FROM verification_sessions
        WHERE sid ${isAmong(JSON.stringify(sids))} AND ${inScope} AND ${isUnfinished} ORDER BY sid ${forUpdate}`,
      readSessionIds,
    );
    yield* sql`
      UPDATE verification_sessions
      SET state = 'failed', error = ${failure}, change = change + 1, changed_at = ${at}
      WHERE sid ${isAmong(JSON.stringify(locked))}`;
    return locked;
  });
};
