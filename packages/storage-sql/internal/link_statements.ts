/**
 * What writes of links are made of.
 */
import type { ChatId, GameId, Millis, Pid } from "@accountlink/core";
import type { SqlClient, Statement } from "effect/sql";
import { dialectOf } from "./dialect.ts";
import { relinkOf } from "./link_relink.ts";

/** They give `previous_game_id` because RETURNING knows a row only as it has become. */
export const linkStatements = (sql: SqlClient.SqlClient) => {
  const { forUpdate } = dialectOf(sql);
  const relink = relinkOf(sql);
  return {
    /** Gives the record, or nothing when there is one already and `existing`, the end of ON CONFLICT, leaves it as it is. */
    link: (
      pid: Pid,
      chatId: ChatId,
      gameId: GameId,
      at: Millis,
      existing: Statement.Fragment = relink,
    ) => sql`
      INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
      VALUES (${pid}, ${chatId}, ${gameId}, 1, ${at}, ${at})
      ON CONFLICT (pid, chat_id) ${existing}
      RETURNING chat_id, game_id, link_version, linked_at, last_verified_at, previous_game_id`,

    /** Gives the link that it removed, or nothing when there was none. */
    unlink: (pid: Pid, chatId: ChatId, at: Millis) => sql`
      UPDATE links
      SET previous_game_id = game_id, game_id = NULL, link_version = link_version + 1, linked_at = ${at}
      WHERE pid = ${pid} AND chat_id = ${chatId} AND game_id IS NOT NULL
      RETURNING previous_game_id`,

    /** Gives the records of both, locked in an order that never has two writes wait for each other. */
    lock: (pid: Pid, one: ChatId, other: ChatId) => sql`
      SELECT chat_id, game_id, link_version, linked_at, last_verified_at FROM links
      WHERE pid = ${pid} AND chat_id IN (${one}, ${other})
      ORDER BY chat_id ${forUpdate}`,

    lockScope: (pid: Pid, lock: Statement.Fragment) => sql`SELECT pid FROM scopes WHERE pid = ${pid} ${lock}`,
  };
};
