/**
 * Writes of links that SQLite runs in one step: constant statements without a pause between them. A function returns null,
 * and its write runs as a transaction of many steps, if there is more to do than usual: the scope has had a block or allows
 * one chat user, the user is verifying, or the write is refused.
 */
import { linkMoved, linkRemoved, linkSet } from "@accountlink/core/journal";
import {
  type ChatMoved,
  type GameSet,
  type GameUnlinked,
  isLinked,
  type MoveChat,
  type RemoveGame,
  type SetGame,
} from "@accountlink/core/links";
import { verificationSessions } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Option } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { insertRecordNow } from "../journal/records.ts";
import { isOnly } from "../record_table.ts";
import type { StepStatements } from "../statements/one_step.ts";
import { literalSql } from "../statements/row.ts";
import { recordColumns, recordIn, setIn, unlinkedIn } from "./link_lookups.ts";
import { linkStatements, relinkOf } from "./link_statements.ts";

const { only } = verificationSessions.openByUser;
const unfinished = literalSql(only === undefined ? "1 = 1" : isOnly(verificationSessions, only));

export const linkSteps = (sql: SqlClient.SqlClient) => {
  // Parameters: chat user, game user, time, time, pid.
  const linkIf = (existing: Statement.Fragment) =>
    sql`
      INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at, proof)
      SELECT pid, ${""}, ${""}, 1, ${0}, ${0}, 'hand' FROM scopes WHERE pid = ${""} AND has_blocks = 0 AND one_chat_user = 0
      ON CONFLICT (pid, chat_id) ${existing}
      RETURNING ${recordColumns}, previous_game_id`.compile()[0];
  const link = linkIf(relinkOf(sql));
  const linkUnlinked = linkIf(sql`${relinkOf(sql)} WHERE links.game_id IS NULL`);
  // Parameters: time, pid, chat user.
  const [unlink] = linkStatements(sql)
    .unlink("" as SetGame["pid"], "" as SetGame["chatId"], 0)
    .compile();
  // Parameters: pid, chat user.
  const [find] = sql`SELECT ${recordColumns} FROM links WHERE pid = ${""} AND chat_id = ${""}`.compile();
  // Parameters: pid, chat user, pid, chat user.
  const [verifying] = sql`
    SELECT 1 FROM verification_flows WHERE pid = ${""} AND chat_id = ${""}
    UNION ALL SELECT 1 FROM verification_sessions WHERE pid = ${""} AND chat_id = ${""} AND ${unfinished}
    LIMIT 1`.compile();

  return {
    set: (statements: StepStatements, write: SetGame, now: Millis): GameSet | null => {
      const { pid, chatId, gameId, at } = write;
      const [row] = statements.all(link, [chatId, gameId, at, at, pid]);
      const set = row && setIn(row);
      if (set === undefined) return null;
      if (set.previousGameId !== gameId) insertRecordNow(statements, pid, linkSet(write, set), now);
      return set;
    },

    remove: (
      statements: StepStatements,
      write: RemoveGame,
      now: Millis,
    ): Option.Option<GameUnlinked> | null => {
      const { pid, chatId, at } = write;
      if (statements.all(verifying, [pid, chatId, pid, chatId]).length > 0) return null;
      const [row] = statements.all(unlink, [at, pid, chatId]);
      const unlinked = row && unlinkedIn(row);
      if (unlinked === undefined) return null;
      const { removedGameId, linkVersion } = unlinked;
      insertRecordNow(statements, pid, linkRemoved(write, chatId, removedGameId, linkVersion), now);
      return Option.some({ gameId: removedGameId, ended: [] });
    },

    move: (statements: StepStatements, write: MoveChat, now: Millis): ChatMoved | null => {
      const { pid, oldChatId, newChatId, at } = write;
      if (newChatId === oldChatId) return null;
      const [row] = statements.all(find, [pid, oldChatId]);
      const old = row && recordIn(row);
      if (old === undefined || !isLinked(old)) return null;
      const [moved] = statements.all(linkUnlinked, [newChatId, old.gameId, at, at, pid]);
      const set = moved && setIn(moved);
      if (set === undefined) return null;
      statements.run(unlink, [at, pid, oldChatId]);
      insertRecordNow(statements, pid, linkMoved(write, set.record, oldChatId), now);
      return { _tag: "Moved", gameId: old.gameId };
    },
  };
};
