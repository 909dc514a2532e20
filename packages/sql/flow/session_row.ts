/** Rows of `verification_sessions`. The column `sid` holds a `SessionId`, a keyed hash of the sid. */
import { ChatId, GameId, GuildId, KeyId, Pid, type VerificationSession } from "@accountlink/core";
import { SessionId } from "@accountlink/core/ids";
import { gameProofs } from "@accountlink/core/links";
import type { SessionFailure, SessionState } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { columnReader, literalSql, literalsOf, tableOf } from "../statements/row.ts";

const sessions = tableOf(
  "verification_sessions",
  {
    id: SessionId,
    keyId: KeyId,
    pid: Pid,
    clientId: Schema.String,
    guildId: Schema.NullOr(GuildId),
    chatId: Schema.NullOr(ChatId),
    gameId: Schema.NullOr(GameId),
    redirect: Schema.NullOr(Schema.String),
    state: literalsOf<SessionState>({
      pending: true,
      opened: true,
      completed: true,
      failed: true,
      cancelled: true,
      expired: true,
    }),
    linkChanged: Schema.BooleanFromBit,
    previousGameId: Schema.NullOr(GameId),
    proof: Schema.NullOr(Schema.Literals(gameProofs)),
    error: Schema.NullOr(literalsOf<SessionFailure>({ link_removed: true })),
    createdAt: Schema.Int,
    expiresAt: Schema.Int,
    completedAt: Schema.NullOr(Schema.Int),
    change: Schema.Int,
  },
  { id: "sid" },
);

/**
 * An SQL condition: the state is not final. Its text must equal the condition of the partial indexes, so that queries
 * use these indexes.
 */
export const unfinished = literalSql("state IN ('pending', 'opened')");

export const sessionColumns = sessions.columns;

export const rowOfSession = (session: VerificationSession) => sessions.rowOf(session);

export const readSessions = sessions.reader((session): VerificationSession => session);

/** Stores the mutable fields of a session, with the time of the change. */
export const storeSession = (sql: SqlClient.SqlClient, session: VerificationSession, at: Millis) => {
  const { id, state, chatId, gameId, linkChanged, previousGameId, proof, error, completedAt, change } =
    session;
  return sql`
    UPDATE verification_sessions
    SET state = ${state}, chat_id = ${chatId}, game_id = ${gameId}, link_changed = ${linkChanged ? 1 : 0},
      previous_game_id = ${previousGameId}, proof = ${proof}, error = ${error}, completed_at = ${completedAt}, change = ${change},
      changed_at = ${at}
    WHERE sid = ${id}`;
};

export const readSessionIds = columnReader("verification_sessions", "sid", SessionId);
