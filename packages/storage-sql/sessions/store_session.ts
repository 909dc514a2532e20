import type { VerificationSession } from "@accountlink/core";
import type { Millis } from "@accountlink/core/timestamp";
import type { SqlClient } from "effect/sql";
import { rowOfSession } from "./session_row.ts";

/** Stores the mutable fields of a session, with the time of the change. */
export const storeSession = (sql: SqlClient.SqlClient, session: VerificationSession, at: Millis) => {
  const { sid, state, chat_id, game_id, link_changed, previous_game_id, error, completed_at, change } =
    rowOfSession(session);
  return sql`
    UPDATE verification_sessions
    SET state = ${state}, chat_id = ${chat_id}, game_id = ${game_id}, link_changed = ${link_changed},
      previous_game_id = ${previous_game_id}, error = ${error}, completed_at = ${completed_at}, change = ${change},
      changed_at = ${at}
    WHERE sid = ${sid}`;
};
