/** Adds the logs of communities in channels, and the panels that were posted from the dashboard. */
import { changeSchema } from "./change_schema.ts";

export const guildLogs = changeSchema(`
  ALTER TABLE role_plans ADD COLUMN log_channel_id TEXT;

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
