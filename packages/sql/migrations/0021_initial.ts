/**
 * The schema of the first release. It is step 21 because it takes the place of 20 steps that were never released: a
 * database that has them is changed to the same schema. Indexes are named after what they find. `links` and its index
 * begin with `pid`, so that the table can be partitioned by scope.
 */
import { Effect } from "effect";
import { SqlClient, SqlError } from "effect/sql";
import { changeSchema } from "./change_schema.ts";
import { accounts, auditAndEvents, links, sightings, verification } from "./link_tables.ts";
import { placeUserTriggers } from "./place_user_triggers.ts";

const requests = changeSchema(`
  -- The primary key begins with ends_at, so that the ended windows are adjacent and can be deleted together.
  CREATE TABLE day_counts (
    ends_at INTEGER NOT NULL, counter TEXT NOT NULL, counted INTEGER NOT NULL, PRIMARY KEY (ends_at, counter)
  );

  -- The primary key begins with the API key, since usage is read per API key.
  CREATE TABLE usage_days (
    key_id TEXT NOT NULL, starts_at INTEGER NOT NULL, route_group TEXT NOT NULL, served INTEGER NOT NULL,
    refused INTEGER NOT NULL, errors INTEGER NOT NULL, PRIMARY KEY (key_id, starts_at, route_group)
  );
  CREATE INDEX usage_days_by_age ON usage_days (starts_at);

  CREATE TABLE usage_meters (id TEXT NOT NULL PRIMARY KEY, last_batch INTEGER NOT NULL, day INTEGER NOT NULL);

  CREATE TABLE begun_sign_ins (state_hash TEXT NOT NULL PRIMARY KEY, site TEXT NOT NULL, expires_at INTEGER NOT NULL);
  CREATE INDEX begun_sign_ins_by_deadline ON begun_sign_ins (expires_at);

  -- Sign-ins to the dashboard and to the user pages. guilds is null if the platform did not report them.
  CREATE TABLE site_sign_ins (
    id TEXT NOT NULL PRIMARY KEY, site TEXT NOT NULL, chat_id TEXT NOT NULL, guilds TEXT, created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL, account TEXT, device TEXT
  );
  CREATE INDEX site_sign_ins_by_user ON site_sign_ins (chat_id, site);
  CREATE INDEX site_sign_ins_by_deadline ON site_sign_ins (expires_at);

  -- The key is kept until ends_at. answer is null after an erasure, which leaves only the hashes id and fingerprint.
  CREATE TABLE idempotency_keys (
    id TEXT NOT NULL PRIMARY KEY, fingerprint TEXT NOT NULL, answer TEXT, chat_ids TEXT NOT NULL,
    ends_at INTEGER NOT NULL
  );
  CREATE INDEX idempotency_keys_by_end ON idempotency_keys (ends_at)
`);

const webhooks = changeSchema(`
  -- All events of the scope up to position were sent or have a row in webhook_deliveries. holder is the node that sends
  -- the webhook's events.
  CREATE TABLE webhooks (
    id TEXT NOT NULL PRIMARY KEY, pid TEXT NOT NULL REFERENCES scopes (pid), url TEXT NOT NULL, types TEXT NOT NULL,
    description TEXT NOT NULL, status TEXT NOT NULL, disabled_reason TEXT, created_at INTEGER NOT NULL,
    last_delivered_at INTEGER, failing_since INTEGER, secrets TEXT NOT NULL, position INTEGER NOT NULL, holder TEXT
  );
  CREATE INDEX webhooks_by_scope ON webhooks (pid);

  CREATE TABLE webhook_nodes (id TEXT NOT NULL PRIMARY KEY, lives_until INTEGER NOT NULL);

  -- position is null for a test event. lane and other_lane are pseudonyms of the event's users, stored until the event
  -- is sent.
  CREATE TABLE webhook_deliveries (
    webhook_id TEXT NOT NULL, event_id TEXT NOT NULL, position INTEGER, type TEXT NOT NULL, at INTEGER NOT NULL,
    status TEXT NOT NULL, attempts INTEGER NOT NULL, resends INTEGER NOT NULL, response_status INTEGER, error TEXT,
    next_attempt_at INTEGER, lane TEXT, other_lane TEXT, attempted_at INTEGER, answered_at INTEGER,
    response_type TEXT, PRIMARY KEY (webhook_id, event_id)
  );
  CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (webhook_id, status, event_id);
  CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook_id, at)
    WHERE status IN ('failing', 'waiting');
  CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_attempt_at)
    WHERE next_attempt_at IS NOT NULL;
  CREATE INDEX webhook_deliveries_by_lane ON webhook_deliveries (webhook_id, lane, position) WHERE lane IS NOT NULL;
  CREATE INDEX webhook_deliveries_by_other_lane ON webhook_deliveries (webhook_id, other_lane, position)
    WHERE other_lane IS NOT NULL
`);

const roles = changeSchema(`
  -- The nodes have processed the events of the scope up to position, so that every member that such an event affects
  -- was added to role_members. sweep_total is null while no sweep runs.
  -- paused_at is null while the plan is on, and if it was never on.
  CREATE TABLE role_plans (
    pid TEXT NOT NULL REFERENCES scopes (pid), guild_id TEXT NOT NULL, rules TEXT NOT NULL, nickname TEXT,
    state TEXT NOT NULL, position INTEGER NOT NULL, revision INTEGER NOT NULL, swept_at INTEGER,
    sweep_started_at INTEGER, sweep_after TEXT, sweep_done INTEGER NOT NULL, sweep_total INTEGER, holder TEXT,
    nickname_group_id TEXT, bypass_role_id TEXT, unlinked TEXT, paused_at INTEGER, log_channel_id TEXT,
    PRIMARY KEY (pid, guild_id)
  );
  CREATE UNIQUE INDEX role_plans_on ON role_plans (guild_id) WHERE state = 'on';

  CREATE TABLE role_plan_nodes (id TEXT NOT NULL PRIMARY KEY, lives_until INTEGER NOT NULL);

  -- since and due_at are set while a member waits for a change. nickname is the nickname that the plan set.
  CREATE TABLE role_members (
    pid TEXT NOT NULL, guild_id TEXT NOT NULL, chat_id TEXT NOT NULL, mark INTEGER NOT NULL, since INTEGER,
    due_at INTEGER, nickname TEXT, PRIMARY KEY (pid, guild_id, chat_id)
  );
  CREATE INDEX role_members_by_since ON role_members (pid, guild_id, since) WHERE since IS NOT NULL;
  CREATE INDEX role_members_by_due_at ON role_members (pid, guild_id, due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX role_members_by_user ON role_members (chat_id);

  -- role_id is empty if the problem concerns the nickname.
  CREATE TABLE role_problems (
    pid TEXT NOT NULL, guild_id TEXT NOT NULL, chat_id TEXT NOT NULL, role_id TEXT NOT NULL, reason TEXT NOT NULL,
    at INTEGER NOT NULL, PRIMARY KEY (pid, guild_id, chat_id, role_id)
  );
  CREATE INDEX role_problems_by_time ON role_problems (pid, guild_id, at);
  CREATE INDEX role_problems_by_user ON role_problems (chat_id);

  -- preview is JSON. It names members, so an erasure deletes it.
  CREATE TABLE role_previews (
    pid TEXT NOT NULL REFERENCES scopes (pid), guild_id TEXT NOT NULL, id TEXT NOT NULL, preview TEXT NOT NULL,
    saved_at INTEGER NOT NULL, confirmed_at INTEGER, PRIMARY KEY (pid, guild_id)
  );
  CREATE INDEX role_previews_by_time ON role_previews (saved_at)
`);

const logs = changeSchema(`
  -- id is the pid and the guild. channel_id is null if the log is turned off, which may still have messages to edit.
  -- problems is a JSON list of the problems that were told.
  CREATE TABLE guild_logs (
    id TEXT NOT NULL PRIMARY KEY, pid TEXT NOT NULL REFERENCES scopes (pid), guild_id TEXT NOT NULL, channel_id TEXT,
    position INTEGER NOT NULL, problems TEXT NOT NULL, closed_at INTEGER, holder TEXT
  );
  CREATE INDEX guild_logs_by_scope ON guild_logs (pid);

  CREATE TABLE guild_log_nodes (id TEXT NOT NULL PRIMARY KEY, lives_until INTEGER NOT NULL);

  CREATE TABLE guild_log_entries (
    log_id TEXT NOT NULL, id INTEGER NOT NULL, chat_id TEXT NOT NULL, entry TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (log_id, id)
  );
  CREATE INDEX guild_log_entries_by_user ON guild_log_entries (chat_id);

  -- lines is a JSON list. edit_at and erased_at are set while the message still names erased users on the platform.
  CREATE TABLE guild_log_messages (
    log_id TEXT NOT NULL, message_id TEXT NOT NULL, channel_id TEXT NOT NULL, lines TEXT NOT NULL, at INTEGER NOT NULL,
    erased_at INTEGER, edit_at INTEGER, PRIMARY KEY (log_id, message_id)
  );
  CREATE INDEX guild_log_messages_by_time ON guild_log_messages (log_id, at);
  CREATE INDEX guild_log_messages_by_edit ON guild_log_messages (log_id, edit_at) WHERE edit_at IS NOT NULL;

  CREATE TABLE guild_log_users (
    log_id TEXT NOT NULL, message_id TEXT NOT NULL, chat_id TEXT NOT NULL, PRIMARY KEY (log_id, message_id, chat_id)
  );
  CREATE INDEX guild_log_users_by_user ON guild_log_users (chat_id);

  CREATE TABLE panels (
    pid TEXT NOT NULL REFERENCES scopes (pid), guild_id TEXT NOT NULL, channel_id TEXT NOT NULL,
    message_id TEXT NOT NULL, PRIMARY KEY (pid, guild_id, channel_id)
  )
`);

const schema = Effect.all(
  [
    accounts,
    links,
    auditAndEvents,
    verification,
    sightings,
    placeUserTriggers,
    requests,
    webhooks,
    roles,
    logs,
  ],
  { discard: true },
);

/** Changes the schema of the 20 earlier steps. A database that has fewer of them is refused. */
const changes = changeSchema(`
  DELETE FROM verification_flows WHERE word_seed IS NULL;
  UPDATE sightings SET first_seen_at = seen_at WHERE first_seen_at IS NULL;
  UPDATE role_plans SET unlinked = 'remove' WHERE unlinked IS NULL;
  ALTER TABLE idempotency_keys DROP COLUMN request_id;
  ALTER TABLE idempotency_keys DROP COLUMN held_until;
  ALTER TABLE idempotency_keys DROP COLUMN erased
`);

const lastEarlier = 20;

/**
 * How to upgrade a database that has fewer than all of the earlier steps; null if this release upgrades it.
 *
 * @param version the number of the last step that ran on it, 0 for a new database
 * @internal
 */
export const upgradeThrough = (version: number): string | null =>
  version === 0 || version >= lastEarlier
    ? null
    : `its schema is version ${version}, expected ${lastEarlier} or later: start commit b6bba7dc of accountlink on it first`;

export const initial = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  // The migrator has recorded the pending steps already.
  const [last] = yield* sql<{
    readonly version: number | null;
  }>`SELECT MAX(migration_id) AS version FROM schema_migrations WHERE migration_id <= ${lastEarlier}`;
  const version = last?.version ?? 0;
  const message = upgradeThrough(version);
  if (message !== null) {
    return yield* new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: undefined, message }) });
  }
  yield* version === 0 ? schema : changes;
});
