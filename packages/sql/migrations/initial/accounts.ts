import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import type { Dialect } from "../../statements/dialect.ts";

export const accounts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { text, integer, tableByKey }: Dialect,
) {
  yield* sql`
    CREATE TABLE accounts (
      name ${text} NOT NULL PRIMARY KEY,
      chat_id ${text},
      tier ${text} NOT NULL,
      status ${text} NOT NULL DEFAULT 'active'
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX accounts_by_chat_user ON accounts (chat_id) WHERE chat_id IS NOT NULL`;

  // The global scope has no guild.
  yield* sql`
    CREATE TABLE scopes (
      pid ${text} NOT NULL PRIMARY KEY,
      account ${text} NOT NULL REFERENCES accounts (name),
      guild_id ${text},
      display_name ${text},
      support_url ${text},
      done_text ${text}
    ) ${tableByKey}`;
  yield* sql`CREATE UNIQUE INDEX scopes_by_target ON scopes (account, COALESCE(guild_id, ''))`;

  // counts: whether the key counts towards the maximum of its account. suspended: whether its account is suspended,
  // so that authentication reads no other table.
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
      created_at ${integer} NOT NULL,
      counts ${integer} NOT NULL DEFAULT 1,
      access ${text} NOT NULL DEFAULT 'full',
      last_used_at ${integer},
      revoked_at ${integer},
      suspended ${integer} NOT NULL DEFAULT 0
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX keys_by_scope ON keys (pid)`;

  yield* sql`
    CREATE TABLE key_secrets (
      hash ${text} NOT NULL PRIMARY KEY,
      key_id ${text} NOT NULL REFERENCES keys (id),
      ends_at ${integer}
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX key_secrets_by_key ON key_secrets (key_id)`;

  // This table has one row.
  yield* sql`
    CREATE TABLE root_key (
      id ${integer} NOT NULL PRIMARY KEY CHECK (id = 1),
      wrapped ${text} NOT NULL
    ) ${tableByKey}`;
});
