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
     * Finds the records of pairs of pid and chat ID; the rows end with the pid. For remote databases only. The LIMIT
     * forces an index lookup for each pair; a plain join would scan a partitioned table. Parameter: pairs as JSON.
     */
    byPairs: textOf(sql`
      SELECT found.* FROM ${elements("")} CROSS JOIN LATERAL (
        SELECT ${recordColumns}, pid FROM links WHERE pid = value ->> 0 AND chat_id = value ->> 1 LIMIT 1
      ) AS found`),

    /**
     * Finds the links of pairs of pid and game ID, by an index lookup for each, as in `byPairs`. For remote databases
     * only. Parameter: pairs as JSON.
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

    /** Counts at most `limit` of the links that `countVerified` counts. Parameters: pid, two times, limit. */
    countUpTo: textOf(sql`
      SELECT COUNT(*) FROM (
        SELECT 1 FROM links
        WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at < ${0} AND last_verified_at >= ${0}
        ORDER BY last_verified_at DESC LIMIT ${0}
      ) AS counted`),

    /** Counts links last verified before the first time and not before the second. Parameters: pid, two times. */
    countVerified: textOf(sql`
      SELECT COUNT(*) FROM links
      WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at < ${0} AND last_verified_at >= ${0}`),

    /**
     * Sorts the links that `countVerified` counts, the latest first, and returns the time of link n + 1. Parameters:
     * pid, two times, n.
     */
    verifiedAfter: textOf(sql`
      SELECT last_verified_at FROM links
      WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at < ${0} AND last_verified_at >= ${0}
      ORDER BY last_verified_at DESC LIMIT 1 OFFSET ${0}`),

    /**
     * Counts links last verified at a time, up to a limit, and returns the last chat ID if the limit is reached.
     * Parameters: limit, pid, time, chat ID to start after, limit.
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
     * Lists links last verified at the given time whose chat ID is after the given one. Parameters: pid, time, chat ID,
     * limit.
     */
    newestAt: textOf(sql`
      ${records} WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at = ${0} AND chat_id > ${""}
      ORDER BY last_verified_at DESC, chat_id LIMIT ${0}`),

    /** Lists links last verified before a time. Parameters: pid, time, limit. */
    newestBefore: textOf(sql`
      ${records} WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at < ${0}
      ORDER BY last_verified_at DESC, chat_id LIMIT ${0}`),

    /** Lists links last verified at a time, before a chat ID, nearest first. Parameters: pid, time, chat ID, limit. */
    nearestAt: textOf(sql`
      ${records} WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at = ${0} AND chat_id < ${""}
      ORDER BY last_verified_at, chat_id DESC LIMIT ${0}`),

    /** Lists links last verified after a time, nearest first. Parameters: pid, time, limit. */
    nearestAfter: textOf(sql`
      ${records} WHERE pid = ${""} AND game_id IS NOT NULL AND last_verified_at > ${0}
      ORDER BY last_verified_at, chat_id DESC LIMIT ${0}`),

    /** Parameters: pid, chat ID to start after, limit. */
    page: textOf(sql`
      ${records} WHERE pid = ${""} AND chat_id > ${""} AND game_id IS NOT NULL
      ORDER BY chat_id LIMIT ${0}`),
  };
};

export const textOf = (query: Statement.Statement<unknown>): string => query.compile()[0];
