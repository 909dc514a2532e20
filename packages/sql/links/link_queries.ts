/**
 * The lookups of `LinkStore` as constant SQL text: requests only bind parameters, and the database prepares each
 * statement once.
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
     * Pairs of pid and chat ID as JSON; the rows end with the pid. For remote databases only. The LIMIT forces an
     * index lookup for each pair; a plain join would scan a partitioned table.
     */
    byPairs: textOf(sql`
      SELECT found.* FROM ${elements("")} CROSS JOIN LATERAL (
        SELECT ${record}, pid FROM links WHERE pid = value ->> 0 AND chat_id = value ->> 1 LIMIT 1
      ) AS found`),

    /**
     * Finds links by pairs of scope and game ID, one JSON parameter, by an index lookup for each, as in `byPairs`. For
     * remote databases only.
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

    /** pid, two times, limit: counts at most `limit` of the links that `countVerified` counts */
    countUpTo: textOf(sql`
      SELECT COUNT(*) FROM (
        SELECT 1 FROM links
        WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at < ${0} AND last_verified_at >= ${0}
        ORDER BY last_verified_at DESC LIMIT ${0}
      ) AS counted`),

    /** pid, two times: counts links last verified before the first time and not before the second */
    countVerified: textOf(sql`
      SELECT COUNT(*) FROM links
      WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at < ${0} AND last_verified_at >= ${0}`),

    /** pid, two times, n: orders the links of `countVerified` latest first, and returns the time of link n + 1 */
    verifiedAfter: textOf(sql`
      SELECT last_verified_at FROM links
      WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at < ${0} AND last_verified_at >= ${0}
      ORDER BY last_verified_at DESC LIMIT 1 OFFSET ${0}`),

    /**
     * limit, pid, time, chat ID to start after, limit: counts links last verified at that time, and returns the last
     * one of a full step
     */
    countStepAt: textOf(sql`
      SELECT COUNT(*), CASE WHEN COUNT(*) = ${0} THEN MAX(chat_id) END FROM (
        SELECT chat_id FROM links
        WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at = ${0} AND chat_id > ${""}
        ORDER BY chat_id LIMIT ${0}
      ) AS step`),

    /**
     * Arrays of chat ID and game ID as JSON, pid: counts the chat users that have the given game user. Without CROSS
     * JOIN, SQLite would read all arrays for each link of the scope.
     */
    countSame: textOf(sql`
      SELECT CAST(COUNT(*) AS INTEGER) AS count FROM ${elements("")} CROSS JOIN links
      WHERE pid = ${""} AND chat_id = value ->> 0 AND game_id = value ->> 1`),

    /** pid, limit */
    newest: textOf(sql`
      ${records} WHERE pid = ${""} AND game_id IS NOT NULL ORDER BY last_verified_at DESC, chat_id LIMIT ${0}`),

    /** pid, time, chat ID, limit: links last verified at that time */
    newestAt: textOf(sql`
      ${records} WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at = ${0} AND chat_id > ${""}
      ORDER BY last_verified_at DESC, chat_id LIMIT ${0}`),

    /** pid, time, limit: older links */
    newestBefore: textOf(sql`
      ${records} WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at < ${0}
      ORDER BY last_verified_at DESC, chat_id LIMIT ${0}`),

    /** pid, time, chat ID, limit: links last verified at that time that precede the chat ID, nearest first */
    nearestAt: textOf(sql`
      ${records} WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at = ${0} AND chat_id < ${""}
      ORDER BY last_verified_at, chat_id DESC LIMIT ${0}`),

    /** pid, time, limit: later links, nearest first */
    nearestAfter: textOf(sql`
      ${records} WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at > ${0}
      ORDER BY last_verified_at, chat_id DESC LIMIT ${0}`),

    /** pid, chat ID to start after, limit */
    page: textOf(sql`
      ${records} WHERE pid = ${""} AND chat_id > ${""} AND game_id IS NOT NULL
      ORDER BY chat_id LIMIT ${0}`),
  };
};

export const textOf = (query: Statement.Statement<unknown>): string => query.compile()[0];
