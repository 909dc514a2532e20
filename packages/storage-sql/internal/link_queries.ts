/**
 * The look-ups of `LinkStore`. Their texts are made once, in the words of the dialect: a request binds its values and
 * nothing else, and the database prepares each text once.
 */
import type { SqlClient, Statement } from "effect/sql";
import { dialectOf } from "./dialect.ts";

/** Each text, under the values that it takes, in their order. */
export const linkQueries = (sql: SqlClient.SqlClient) => {
  const { elements, isAmong } = dialectOf(sql);
  const record = sql.literal("chat_id, game_id, link_version, linked_at, last_verified_at");
  const records = sql`SELECT ${record} FROM links`;
  return {
    /** The pid and the chat ID. */
    byChatId: textOf(sql`${records} WHERE pid = ${""} AND chat_id = ${""}`),

    /** The pid, and the chat IDs as JSON. */
    byChatIds: textOf(sql`${records} WHERE pid = ${""} AND chat_id ${isAmong("")}`),

    /**
     * Pairs of a pid and a chat ID as JSON. It gives the pid as well. Only remote databases run it. The LIMIT keeps it to
     * one look into the index for each pair: as a mere join, a table in many partitions is read from end to end.
     */
    byPairs: textOf(sql`
      SELECT found.* FROM ${elements("")} CROSS JOIN LATERAL (
        SELECT pid, ${record} FROM links WHERE pid = value ->> 0 AND chat_id = value ->> 1 LIMIT 1
      ) AS found`),

    /** The pid, and the game IDs as JSON. */
    byGameIds: textOf(sql`
      SELECT chat_id, game_id FROM links
      WHERE pid = ${""} AND game_id ${isAmong("")}
      ORDER BY game_id, linked_at DESC, chat_id`),

    /** The pid, the chat ID before the first one, and how many. */
    page: textOf(sql`
      ${records} WHERE pid = ${""} AND chat_id > ${""} AND game_id IS NOT NULL
      ORDER BY chat_id LIMIT ${0}`),
  };
};

const textOf = (query: Statement.Statement<unknown>): string => query.compile()[0];
