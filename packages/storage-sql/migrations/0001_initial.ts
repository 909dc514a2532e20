/**
 * Accounts, scopes, keys, links, the audit log and the progress of imports.
 *
 * `links` and its index begin with `pid`, so that the table can be partitioned by scope. Indexes
 * are named after what they find.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

export const initial = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { text, integer, sequence, table, tableByKey } = dialectOf(sql);

  yield* sql`
    CREATE TABLE accounts (
      name ${text} NOT NULL PRIMARY KEY,
      chat_id ${text},
      tier ${text} NOT NULL
    ) ${tableByKey}`;

  // A scope without a guild is the global one.
  yield* sql`
    CREATE TABLE scopes (
      pid ${text} NOT NULL PRIMARY KEY,
      account ${text} NOT NULL REFERENCES accounts (name),
      guild_id ${text}
    ) ${tableByKey}`;
  yield* sql`CREATE UNIQUE INDEX scopes_by_target ON scopes (account, COALESCE(guild_id, ''))`;

  yield* sql`
    CREATE TABLE keys (
      id ${text} NOT NULL PRIMARY KEY,
      pid ${text} NOT NULL REFERENCES scopes (pid),
      name ${text} NOT NULL,
      tier ${text} NOT NULL,
      kind ${text} NOT NULL,
      status ${text} NOT NULL,
      expires_at ${integer},
      limits ${text} NOT NULL,
      allow_ips ${text} NOT NULL,
      deny_ips ${text} NOT NULL,
      redirect_origins ${text} NOT NULL,
      created_at ${integer} NOT NULL
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX keys_by_scope ON keys (pid)`;

  yield* sql`
    CREATE TABLE key_secrets (
      hash ${text} NOT NULL PRIMARY KEY,
      key_id ${text} NOT NULL REFERENCES keys (id),
      ends_at ${integer}
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX key_secrets_by_key ON key_secrets (key_id)`;

  // previous_game_id is the value that the last write replaced, for its RETURNING, which sees only
  // new rows.
  yield* sql`
    CREATE TABLE links (
      pid ${text} NOT NULL REFERENCES scopes (pid),
      chat_id ${text} NOT NULL,
      game_id ${text},
      previous_game_id ${text},
      link_version ${integer} NOT NULL,
      linked_at ${integer} NOT NULL,
      last_verified_at ${integer} NOT NULL,
      PRIMARY KEY (pid, chat_id)
    ) ${tableByKey}`;
  yield* sql`
    CREATE INDEX links_by_game ON links (pid, game_id, linked_at DESC, chat_id) WHERE game_id IS NOT NULL`;

  yield* sql`
    CREATE TABLE audit_log (
      sequence ${sequence},
      at ${integer} NOT NULL,
      account ${text} NOT NULL,
      pid ${text},
      actor_type ${text} NOT NULL,
      actor_id ${text} NOT NULL,
      request_id ${text},
      action ${text} NOT NULL,
      details ${text} NOT NULL
    ) ${table}`;
  yield* sql`CREATE INDEX audit_log_by_account ON audit_log (account, sequence)`;

  yield* sql`
    CREATE TABLE import_progress (
      source ${text} NOT NULL PRIMARY KEY,
      position ${integer} NOT NULL
    ) ${tableByKey}`;
});
