import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import type { Dialect } from "../../statements/dialect.ts";

export const verification = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, dialect: Dialect) {
  yield* sessions(sql, dialect);
  yield* flows(sql, dialect);
});

/** The column `sid` holds a `SessionId`: a keyed hash of the sid that clients use. */
const sessions = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { text, integer, tableByKey }: Dialect,
) {
  // changed_at is null until the first change after the creation.
  yield* sql`
    CREATE TABLE verification_sessions (
      sid ${text} NOT NULL PRIMARY KEY,
      key_id ${text} NOT NULL REFERENCES keys (id),
      pid ${text} NOT NULL REFERENCES scopes (pid),
      client_id ${text} NOT NULL,
      guild_id ${text},
      chat_id ${text},
      game_id ${text},
      redirect ${text},
      state ${text} NOT NULL,
      link_changed ${integer} NOT NULL,
      previous_game_id ${text},
      error ${text},
      created_at ${integer} NOT NULL,
      expires_at ${integer} NOT NULL,
      completed_at ${integer},
      change ${integer} NOT NULL,
      changed_at ${integer},
      code_hash ${text},
      sealed_sid ${text}
    ) ${tableByKey}`;
  yield* sql`
    CREATE UNIQUE INDEX verification_sessions_by_code ON verification_sessions (code_hash)
    WHERE state IN ('pending', 'opened')`;
  yield* sql`
    CREATE INDEX verification_sessions_by_user ON verification_sessions (pid, chat_id)
    WHERE state IN ('pending', 'opened')`;
  yield* sql`
    CREATE INDEX verification_sessions_by_deadline ON verification_sessions (expires_at)
    WHERE state IN ('pending', 'opened')`;
  yield* sql`CREATE INDEX verification_sessions_by_age ON verification_sessions (expires_at)`;
  yield* sql`
    CREATE INDEX verification_sessions_by_change ON verification_sessions (changed_at)
    WHERE changed_at IS NOT NULL`;

  // full_at is when the key can create a full burst of sessions again.
  yield* sql`
    CREATE TABLE session_bursts (
      key_id ${text} NOT NULL PRIMARY KEY REFERENCES keys (id),
      full_at ${integer} NOT NULL
    ) ${tableByKey}`;
});

const flows = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, { text, integer, tableByKey }: Dialect) {
  yield* sql`
    CREATE TABLE verification_flows (
      id ${text} NOT NULL PRIMARY KEY,
      sid ${text},
      pid ${text} NOT NULL REFERENCES scopes (pid),
      guild_id ${text},
      redirect ${text},
      chat_id ${text},
      game_id ${text},
      seen_version ${integer},
      expires_at ${integer} NOT NULL
    ) ${tableByKey}`;
  yield* sql`
    CREATE INDEX verification_flows_by_user ON verification_flows (pid, chat_id) WHERE chat_id IS NOT NULL`;
  yield* sql`CREATE INDEX verification_flows_by_deadline ON verification_flows (expires_at)`;

  // The secrets of a sign-in, such as its code verifier, are not stored: they are derived from the `state` that the
  // browser returns.
  yield* sql`
    CREATE TABLE sign_ins (
      state_hash ${text} NOT NULL PRIMARY KEY,
      flow_id ${text} NOT NULL REFERENCES verification_flows (id) ON DELETE CASCADE ON UPDATE CASCADE,
      step ${text} NOT NULL,
      expires_at ${integer} NOT NULL
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX sign_ins_by_flow ON sign_ins (flow_id)`;
});
