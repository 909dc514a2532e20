/**
 * The lookups of `LinkStore` as constant SQL text: requests only bind parameters, and the database prepares each
 * statement once.
 */
import { maxChatsOfGame } from "@accountlink/core/links";
import type { SqlClient, Statement } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { recordColumns } from "./link_row.ts";

/** Each comment lists the parameters of its query in order. */
export const linkQueries = (sql: SqlClient.SqlClient) => {
  const { elements, isAmong } = dialectOf(sql);
  const records = sql`SELECT ${recordColumns} FROM links`;
  const firstOfGame = sql.literal(`LIMIT ${maxChatsOfGame}`);
  return {
    /** Parameters: pid, chat ID. */
    byChatId: textOf(sql`${records} WHERE pid = ${""} AND chat_id = ${""}`),

    /** Parameters: pid, chat IDs as JSON. */
    byChatIds: textOf(sql`${records} WHERE pid = ${""} AND chat_id ${isAmong("")}`),

    /** Parameters: pid, chat IDs as JSON. */
    gamesByChatIds: textOf(
      sql`SELECT chat_id, game_id FROM links WHERE pid = ${""} AND chat_id ${isAmong("")}`,
    ),

    /**
     * Finds records by pairs of pid and chat ID, for batched lookups on a remote database. The last column is the pid.
     * The LIMIT forces an index lookup for each pair; a plain join would scan a partitioned table. Parameter: the pairs
     * as JSON.
     */
    byPairs: textOf(sql`
      SELECT found.* FROM ${elements("")} CROSS JOIN LATERAL (
        SELECT ${recordColumns}, pid FROM links WHERE pid = value ->> 0 AND chat_id = value ->> 1 LIMIT 1
      ) AS found`),

    /**
     * Finds links by pairs of pid and game ID, for batched lookups on a remote database. The LIMIT forces an index
     * lookup for each pair, as in `byPairs`. Parameter: the pairs as JSON.
     */
    byGamePairs: textOf(sql`
      SELECT found.chat_id, found.game_id, found.pid FROM ${elements("")} CROSS JOIN LATERAL (
        SELECT chat_id, game_id, pid, linked_at FROM links WHERE pid = value ->> 0 AND game_id = value ->> 1
        ORDER BY linked_at DESC, chat_id ${firstOfGame}
      ) AS found
      ORDER BY found.linked_at DESC, found.chat_id`),

    /** Parameters: pid, game ID. */
    byGame: textOf(sql`
      SELECT chat_id, game_id FROM links WHERE pid = ${""} AND game_id = ${""}
      ORDER BY linked_at DESC, chat_id ${firstOfGame}`),

    /**
     * Counts at most `limit` links that were last verified in a range of times. Parameters: pid, end of the range
     * (exclusive), start (inclusive), limit.
     */
    countUpTo: textOf(sql`
      SELECT COUNT(*) FROM (
        SELECT 1 FROM links
        WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at < ${0} AND last_verified_at >= ${0}
        ORDER BY last_verified_at DESC LIMIT ${0}
      ) AS counted`),

    /**
     * Counts links that were last verified in a range of times. Parameters: pid, end of the range (exclusive), start
     * (inclusive).
     */
    countVerified: textOf(sql`
      SELECT COUNT(*) FROM links
      WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at < ${0} AND last_verified_at >= ${0}`),

    /**
     * Sorts links that were last verified in a range of times, the latest first, skips `n` of them, and returns when
     * the next link was last verified. Parameters: pid, end of the range (exclusive), start (inclusive), n.
     */
    verifiedAfter: textOf(sql`
      SELECT last_verified_at FROM links
      WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at < ${0} AND last_verified_at >= ${0}
      ORDER BY last_verified_at DESC LIMIT 1 OFFSET ${0}`),

    /**
     * Counts at most `limit` links that were last verified at the given time, in order of chat ID. If it reaches the
     * limit, it also returns the last chat ID, so that the next count can start after it. Parameters: limit, pid, time,
     * chat ID to start after, limit.
     */
    countStepAt: textOf(sql`
      SELECT COUNT(*), CASE WHEN COUNT(*) = ${0} THEN MAX(chat_id) END FROM (
        SELECT chat_id FROM links
        WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at = ${0} AND chat_id > ${""}
        ORDER BY chat_id LIMIT ${0}
      ) AS step`),

    /**
     * Counts how many of the given pairs of chat ID and game ID are links of the scope. Without CROSS JOIN, SQLite
     * would read all pairs for each link of the scope. Parameters: pairs as JSON, pid.
     */
    countSame: textOf(sql`
      SELECT CAST(COUNT(*) AS INTEGER) AS count FROM ${elements("")} CROSS JOIN links
      WHERE pid = ${""} AND chat_id = value ->> 0 AND game_id = value ->> 1`),

    /** Parameters: pid, limit. */
    newest: textOf(sql`
      ${records} WHERE pid = ${""} AND game_id IS NOT NULL ORDER BY last_verified_at DESC, chat_id LIMIT ${0}`),

    /**
     * Lists links that were last verified at the given time, and whose chat IDs follow the given chat ID. Parameters:
     * pid, time, chat ID, limit.
     */
    newestAt: textOf(sql`
      ${records} WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at = ${0} AND chat_id > ${""}
      ORDER BY last_verified_at DESC, chat_id LIMIT ${0}`),

    /** Lists links last verified before a time. Parameters: pid, time, limit. */
    newestBefore: textOf(sql`
      ${records} WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at < ${0}
      ORDER BY last_verified_at DESC, chat_id LIMIT ${0}`),

    /**
     * Lists links that were last verified at the given time, and whose chat IDs precede the given chat ID, in
     * descending order of chat ID. Parameters: pid, time, chat ID, limit.
     */
    nearestAt: textOf(sql`
      ${records} WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at = ${0} AND chat_id < ${""}
      ORDER BY last_verified_at, chat_id DESC LIMIT ${0}`),

    /** Lists links that were last verified after the given time, the earliest first. Parameters: pid, time, limit. */
    nearestAfter: textOf(sql`
      ${records} WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at > ${0}
      ORDER BY last_verified_at, chat_id DESC LIMIT ${0}`),

    /** Parameters: pid, chat ID to start after, limit. */
    page: textOf(sql`
      ${records} WHERE pid = ${""} AND chat_id > ${""} AND game_id IS NOT NULL
      ORDER BY chat_id LIMIT ${0}`),
  };
};

const textOf = (query: Statement.Statement<unknown>): string => query.compile()[0];
