/**
 * Rows of `verification_sessions`. `sid` holds the ID of the session.
 */
import { ChatId, GameId, GuildId, KeyId, Pid, type VerificationSession } from "@accountlink/core";
import { SessionId } from "@accountlink/core/ids";
import type { SessionFailure, SessionState } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { literalsOf, schemaReaderOf } from "../statements/row.ts";

const SessionRow = Schema.Struct({
  sid: SessionId,
  key_id: KeyId,
  pid: Pid,
  client_id: Schema.String,
  guild_id: Schema.NullOr(GuildId),
  chat_id: Schema.NullOr(ChatId),
  game_id: Schema.NullOr(GameId),
  redirect: Schema.NullOr(Schema.String),
  state: literalsOf<SessionState>({
    pending: true,
    opened: true,
    completed: true,
    failed: true,
    cancelled: true,
    expired: true,
  }),
  link_changed: Schema.Literals([0, 1]),
  previous_game_id: Schema.NullOr(GameId),
  error: Schema.NullOr(literalsOf<SessionFailure>({ link_removed: true })),
  created_at: Schema.Int,
  expires_at: Schema.Int,
  completed_at: Schema.NullOr(Schema.Int),
  change: Schema.Int,
});

/** The columns of `readSessions`. */
export const sessionColumns = Object.keys(SessionRow.fields).join(", ");

export const rowOfSession = (session: VerificationSession): typeof SessionRow.Type => ({
  sid: session.id,
  key_id: session.keyId,
  pid: session.pid,
  client_id: session.clientId,
  guild_id: session.guildId,
  chat_id: session.chatId,
  game_id: session.gameId,
  redirect: session.redirect,
  state: session.state,
  link_changed: session.linkChanged ? 1 : 0,
  previous_game_id: session.previousGameId,
  error: session.error,
  created_at: session.createdAt,
  expires_at: session.expiresAt,
  completed_at: session.completedAt,
  change: session.change,
});

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

export const readSessions = schemaReaderOf(
  "verification_sessions",
  SessionRow,
  (row): VerificationSession => ({
    id: row.sid,
    keyId: row.key_id,
    pid: row.pid,
    clientId: row.client_id,
    guildId: row.guild_id,
    chatId: row.chat_id,
    gameId: row.game_id,
    redirect: row.redirect,
    state: row.state,
    linkChanged: row.link_changed === 1,
    previousGameId: row.previous_game_id,
    error: row.error,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    completedAt: row.completed_at,
    change: row.change,
  }),
);

export const readSealedSids = schemaReaderOf(
  "verification_sessions",
  Schema.Struct({ sealed_sid: Schema.String }),
  ({ sealed_sid }) => sealed_sid,
);
