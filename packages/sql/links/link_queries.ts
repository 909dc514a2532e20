/**
 * The lookups of `LinkStore` as constant SQL text: requests only bind parameters, and the database
 * prepares each statement once.
 */
import { maxChatsOfGame } from "@accountlink/core/links";
import type { SqlClient, Statement } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { recordColumns } from "./link_row.ts";

/** Each comment lists the parameters in order. */
export const linkQueries = (sql: SqlClient.SqlClient) => {
  const { elements, isAmong } = dialectOf(sql);
  const record = sql.literal(recordColumns);
  const records = sql`SELECT ${record} FROM links`;
  const firstOfGame = sql.literal(`LIMIT ${maxChatsOfGame}`);
  return {
    /** pid, chat ID */
    byChatId: textOf(sql`${records} WHERE pid = ${""} AND chat_id = ${""}`),

    /** pid, chat IDs as JSON */
    byChatIds: textOf(sql`${records} WHERE pid = ${""} AND chat_id ${isAmong("")}`),

    /** pid, chat IDs as JSON */
    gamesByChatIds: textOf(
      sql`SELECT chat_id, game_id FROM links WHERE pid = ${""} AND chat_id ${isAmong("")}`,
    ),

    /**
     * Pairs of pid and chat ID as JSON; the rows end with the pid. For remote databases only. The LIMIT
     * forces an index lookup for each pair; a plain join would scan a partitioned table.
     */
    byPairs: textOf(sql`
      SELECT found.* FROM ${elements("")} CROSS JOIN LATERAL (
        SELECT ${record}, pid FROM links WHERE pid = value ->> 0 AND chat_id = value ->> 1 LIMIT 1
      ) AS found`),

    /**
     * Pairs of pid and game ID as JSON; the rows end with the pid. For remote databases only. Each pair is an index
     * lookup, as in `byPairs`.
     */
    byGamePairs: textOf(sql`
      SELECT found.chat_id, found.game_id, found.pid FROM ${elements("")} CROSS JOIN LATERAL (
        SELECT chat_id, game_id, pid, linked_at FROM links WHERE pid = value ->> 0 AND game_id = value ->> 1
        ORDER BY linked_at DESC, chat_id ${firstOfGame}
      ) AS found
      ORDER BY found.linked_at DESC, found.chat_id`),

    /** pid, game ID */
    byGame: textOf(sql`
      SELECT chat_id, game_id FROM links WHERE pid = ${""} AND game_id = ${""}
      ORDER BY linked_at DESC, chat_id ${firstOfGame}`),

    /** pid, times, a number: of the links of `countVerified`, so many at most */
    countUpTo: textOf(sql`
      SELECT COUNT(*) FROM (
        SELECT 1 FROM links
        WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at < ${0} AND last_verified_at >= ${0}
        ORDER BY last_verified_at DESC LIMIT ${0}
      ) AS counted`),

    /** pid, times: links last verified before the one and not before the other */
    countVerified: textOf(sql`
      SELECT COUNT(*) FROM links
      WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at < ${0} AND last_verified_at >= ${0}`),

    /** pid, times, a number: of the links of `countVerified`, the time of the one after so many, latest first */
    verifiedAfter: textOf(sql`
      SELECT last_verified_at FROM links
      WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at < ${0} AND last_verified_at >= ${0}
      ORDER BY last_verified_at DESC LIMIT 1 OFFSET ${0}`),

    /** rows of a step, pid, time, chat ID before it, rows again: links last verified at that time, and the last of a full step */
    countStepAt: textOf(sql`
      SELECT COUNT(*), CASE WHEN COUNT(*) = ${0} THEN MAX(chat_id) END FROM (
        SELECT chat_id FROM links
        WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at = ${0} AND chat_id > ${""}
        ORDER BY chat_id LIMIT ${0}
      ) AS step`),

    /**
     * Arrays of chat ID and game ID as JSON, pid: how many of the chat users have that game user. CROSS JOIN, or else
     * SQLite would read all arrays for each link of the scope.
     */
    countSame: textOf(sql`
      SELECT CAST(COUNT(*) AS INTEGER) AS count FROM ${elements("")} CROSS JOIN links
      WHERE pid = ${""} AND chat_id = value ->> 0 AND game_id = value ->> 1`),

    /** pid, limit */
    newest: textOf(sql`
      ${records} WHERE pid = ${""} AND game_id IS NOT NULL ORDER BY last_verified_at DESC, chat_id LIMIT ${0}`),

    /** pid, time, chat ID, limit: links of that time */
    newestAt: textOf(sql`
      ${records} WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at = ${0} AND chat_id > ${""}
      ORDER BY last_verified_at DESC, chat_id LIMIT ${0}`),

    /** pid, time, limit: older links */
    newestBefore: textOf(sql`
      ${records} WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at < ${0}
      ORDER BY last_verified_at DESC, chat_id LIMIT ${0}`),

    /** pid, chat ID before the page, limit */
    page: textOf(sql`
      ${records} WHERE pid = ${""} AND chat_id > ${""} AND game_id IS NOT NULL
      ORDER BY chat_id LIMIT ${0}`),
  };
};

/** The text of a statement, whose values are bound when it runs. */
export const textOf = (query: Statement.Statement<unknown>): string => query.compile()[0];
