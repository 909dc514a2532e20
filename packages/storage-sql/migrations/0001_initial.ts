/**
 * The first step. Indexes are named after what they find. `links` and its index begin with `pid`, so
 * that the table can be partitioned by scope.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { type Dialect, dialectOf } from "../statements/dialect.ts";
import { alts } from "./0001_alts.ts";
import { webhooks } from "./0001_webhooks.ts";

export const initial = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const dialect = dialectOf(sql);
  for (const create of [
    accounts,
    links,
    auditLog,
    events,
    verification,
    alts,
    limits,
    usage,
    dashboard,
    idempotency,
    webhooks,
  ]) {
    yield* create(sql, dialect);
  }
});

const accounts = Effect.fnUntraced(function* (
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

  // A scope without a guild is the global one.
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

  // counts: whether it counts against the maximum of its account. suspended: whether its account is, so that
  // authentication reads no other table.
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

  // One row.
  yield* sql`
    CREATE TABLE root_key (
      id ${integer} NOT NULL PRIMARY KEY CHECK (id = 1),
      wrapped ${text} NOT NULL
    ) ${tableByKey}`;
});

const links = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, { text, integer, tableByKey }: Dialect) {
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
    CREATE INDEX links_by_verification ON links (pid, last_verified_at DESC, chat_id) WHERE game_id IS NOT NULL`;

  yield* sql`
    CREATE TABLE import_progress (
      source ${text} NOT NULL PRIMARY KEY,
      position ${integer} NOT NULL,
      saved_at ${integer}
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX import_progress_by_age ON import_progress (saved_at)`;
});

/** `chat_id` and `other_chat_id` are the chat users that an entry is about. */
const auditLog = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { text, integer, sequence, table }: Dialect,
) {
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
      details ${text} NOT NULL,
      chat_id ${text},
      other_chat_id ${text}
    ) ${table}`;
  yield* sql`CREATE INDEX audit_log_by_account ON audit_log (account, sequence)`;
  yield* sql`CREATE INDEX audit_log_by_action ON audit_log (account, action, sequence)`;
  yield* sql`
    CREATE INDEX audit_log_by_key ON audit_log (actor_id, account, sequence) WHERE actor_type = 'key'`;
  for (const column of ["chat_id", "other_chat_id"]) {
    yield* sql`
      CREATE INDEX ${sql(`audit_log_by_${column}`)} ON audit_log (${sql(column)}, account, sequence)
      WHERE ${sql(column)} IS NOT NULL`;
  }
});

/** Without references to other tables, whose rows an insert would lock. */
const events = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { text, integer, sequence, table, tableByKey }: Dialect,
) {
  // position is null until the event has its place in the feed of its scope.
  yield* sql`
    CREATE TABLE events (
      sequence ${sequence},
      pid ${text} NOT NULL,
      position ${integer},
      id ${text} NOT NULL,
      type ${text} NOT NULL,
      at ${integer} NOT NULL,
      data ${text} NOT NULL
    ) ${table}`;
  yield* sql`CREATE INDEX events_by_position ON events (pid, position) WHERE position IS NOT NULL`;
  yield* sql`CREATE INDEX events_unnumbered ON events (pid, sequence) WHERE position IS NULL`;
  yield* sql`CREATE INDEX events_of_erasures ON events (at) WHERE type = 'user.erased'`;

  // The last position that was deleted.
  yield* sql`
    CREATE TABLE feed_starts (
      pid ${text} NOT NULL PRIMARY KEY,
      position ${integer} NOT NULL
    ) ${tableByKey}`;
});

const verification = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, dialect: Dialect) {
  yield* sessions(sql, dialect);
  yield* flows(sql, dialect);
});

/** `sid` is the ID of the session, a keyed hash of its sid. */
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

  // full_at is when the burst of the key is full again.
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

  // Without their secrets, which are derived from the `state` that the browser returns.
  yield* sql`
    CREATE TABLE sign_ins (
      state_hash ${text} NOT NULL PRIMARY KEY,
      flow_id ${text} NOT NULL REFERENCES verification_flows (id) ON DELETE CASCADE ON UPDATE CASCADE,
      step ${text} NOT NULL,
      expires_at ${integer} NOT NULL
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX sign_ins_by_flow ON sign_ins (flow_id)`;
});

const limits = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { text, integer, tableByKey }: Dialect,
) {
  yield* sql`
    CREATE TABLE nodes (
      id ${text} NOT NULL PRIMARY KEY,
      lives_until ${integer} NOT NULL
    ) ${tableByKey}`;

  // The key begins with the end of the window, so ended windows are adjacent.
  yield* sql`
    CREATE TABLE day_counts (
      ends_at ${integer} NOT NULL,
      counter ${text} NOT NULL,
      counted ${integer} NOT NULL,
      PRIMARY KEY (ends_at, counter)
    ) ${tableByKey}`;
});

const usage = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, { text, integer, tableByKey }: Dialect) {
  // The keys begin with the API key, whose usage is read together.
  for (const table of ["usage_hours", "usage_days"]) {
    yield* sql`
      CREATE TABLE ${sql(table)} (
        key_id ${text} NOT NULL,
        starts_at ${integer} NOT NULL,
        route_group ${text} NOT NULL,
        served ${integer} NOT NULL,
        refused ${integer} NOT NULL,
        errors ${integer} NOT NULL,
        PRIMARY KEY (key_id, starts_at, route_group)
      ) ${tableByKey}`;
    yield* sql`CREATE INDEX ${sql(`${table}_by_age`)} ON ${sql(table)} (starts_at)`;
  }

  yield* sql`
    CREATE TABLE usage_meters (
      id ${text} NOT NULL PRIMARY KEY,
      last_batch ${integer} NOT NULL,
      hour ${integer} NOT NULL
    ) ${tableByKey}`;
});

/** Sign-ins to the dashboard and to the pages of users. */
const dashboard = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { text, integer, tableByKey }: Dialect,
) {
  yield* sql`
    CREATE TABLE begun_sign_ins (
      state_hash ${text} NOT NULL PRIMARY KEY,
      site ${text} NOT NULL,
      expires_at ${integer} NOT NULL
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX begun_sign_ins_by_deadline ON begun_sign_ins (expires_at)`;

  // guilds is null if the platform did not report them.
  yield* sql`
    CREATE TABLE site_sign_ins (
      id ${text} NOT NULL PRIMARY KEY,
      site ${text} NOT NULL,
      chat_id ${text} NOT NULL,
      guilds ${text},
      created_at ${integer} NOT NULL,
      expires_at ${integer} NOT NULL
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX site_sign_ins_by_user ON site_sign_ins (chat_id, site)`;
  yield* sql`CREATE INDEX site_sign_ins_by_deadline ON site_sign_ins (expires_at)`;
});

const idempotency = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { text, integer, tableByKey }: Dialect,
) {
  // answer is null while the request is in progress. held_until is until when such a request holds its key; null
  // stands for ends_at. erased is 1 once an erasure has left only the two hashes.
  yield* sql`
    CREATE TABLE idempotency_keys (
      id ${text} NOT NULL PRIMARY KEY,
      request_id ${text} NOT NULL,
      fingerprint ${text} NOT NULL,
      answer ${text},
      chat_ids ${text} NOT NULL,
      ends_at ${integer} NOT NULL,
      held_until ${integer},
      erased ${integer} NOT NULL DEFAULT 0
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX idempotency_keys_by_end ON idempotency_keys (ends_at)`;
});
