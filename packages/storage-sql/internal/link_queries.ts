/**
 * The look-ups of `LinkStore`. Their texts are made once, in the words of the dialect: a request binds its values and
 * nothing else, and the database prepares each text once.
 */
import type { SqlClient, Statement } from "effect/sql";
import { dialectOf } from "./dialect.ts";

/** Each text, under the values that it takes, in their order. */
export const linkQueries = (sql: SqlClient.SqlClient) => {
  const { strings } = dialectOf(sql);
  const records = sql.literal(
    "SELECT chat_id, game_id, link_version, linked_at, last_verified_at FROM links",
  );
  return {
    /** The pid and the chat ID. */
    byChatId: textOf(sql`${records} WHERE pid = ${""} AND chat_id = ${""}`),

    /** The pid, and the chat IDs as JSON. */
    byChatIds: textOf(sql`${records} WHERE pid = ${""} AND chat_id IN (SELECT value FROM ${strings("")})`),

    /** The pid, and the game IDs as JSON. */
    byGameIds: textOf(sql`
      SELECT chat_id, game_id FROM links
      WHERE pid = ${""} AND game_id IN (SELECT value FROM ${strings("")})
      ORDER BY game_id, linked_at DESC, chat_id`),

    /** The pid, the chat ID before the first one, and how many. */
    page: textOf(sql`
      ${records} WHERE pid = ${""} AND chat_id > ${""} AND game_id IS NOT NULL
      ORDER BY chat_id LIMIT ${0}`),
  };
};

const textOf = (query: Statement.Statement<unknown>): string => query.compile()[0];
