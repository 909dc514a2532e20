/** The tables of communities: their settings, rules of roles and names, reminders and logs. */
import { changeSchema } from "./change_schema.ts";

export const guilds = changeSchema(`
  -- home_since is when linking was last turned on, null if it never was. paused_at is null unless the rules are paused;
  -- paused_why is why the service paused them, paused_by the chat ID of a member or the ID of a key. settings is a JSON
  -- object, panels a JSON list with the last panel of each channel.
  CREATE TABLE communities (
    pid TEXT NOT NULL REFERENCES scopes (pid), guild_id TEXT NOT NULL, home_since INTEGER, paused_at INTEGER,
    paused_why TEXT, paused_by_type TEXT, paused_by TEXT, settings TEXT NOT NULL, panels TEXT NOT NULL,
    PRIMARY KEY (pid, guild_id)
  );
  CREATE INDEX communities_by_home ON communities (guild_id, home_since) WHERE home_since IS NOT NULL;
  CREATE INDEX communities_by_member ON communities (paused_by) WHERE paused_by IS NOT NULL;
  CREATE INDEX communities_reminding ON communities (pid, guild_id) WHERE settings ->> 'remindAfterDays' IS NOT NULL;

  -- Nothing uses the table.
  CREATE TABLE panels (
    pid TEXT NOT NULL REFERENCES scopes (pid), guild_id TEXT NOT NULL, channel_id TEXT NOT NULL,
    message_id TEXT NOT NULL, PRIMARY KEY (pid, guild_id, channel_id)
  );

  -- hash is a keyed hash of the member, so that an erasure leaves it. A member of a guild is reminded once, whichever
  -- scope of the guild reminds.
  CREATE TABLE reminders (
    pid TEXT NOT NULL, guild_id TEXT NOT NULL, hash TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (pid, guild_id, hash)
  );
  CREATE INDEX reminders_by_member ON reminders (guild_id, hash);
  CREATE INDEX reminders_of_guild ON reminders (guild_id, at)
`);

export const roles = changeSchema(`
  -- The nodes have processed the events of the scope up to position, so that every member that such an event affects
  -- was added to role_members. sweep_total is null while no sweep runs. bypass_role_ids and nickname_bypass_role_ids are
  -- JSON lists; bypass_role_ids is null in rows that only bypass_role_id describes. changed_days, a JSON list, is what the
  -- plan changed on each of the last days, null until it has changed a member. putting_back_since is when somebody asked
  -- to put nicknames back, null if nobody did.
  CREATE TABLE role_plans (
    pid TEXT NOT NULL REFERENCES scopes (pid), guild_id TEXT NOT NULL, rules TEXT NOT NULL, nickname TEXT,
    state TEXT NOT NULL, position INTEGER NOT NULL, revision INTEGER NOT NULL, swept_at INTEGER,
    sweep_started_at INTEGER, sweep_after TEXT, sweep_done INTEGER NOT NULL, sweep_total INTEGER, holder TEXT,
    nickname_group_id TEXT, bypass_role_id TEXT, unlinked TEXT, paused_at INTEGER, log_channel_id TEXT,
    bypass_role_ids TEXT, nickname_bypass_role_ids TEXT, changed_days TEXT, putting_back_since INTEGER,
    PRIMARY KEY (pid, guild_id)
  );
  CREATE UNIQUE INDEX role_plans_on ON role_plans (guild_id) WHERE state = 'on';
  CREATE INDEX role_plans_by_putting_back ON role_plans (putting_back_since) WHERE putting_back_since IS NOT NULL;

  CREATE TABLE role_plan_nodes (id TEXT NOT NULL PRIMARY KEY, lives_until INTEGER NOT NULL);

  -- since and due_at are set while a member waits for a change. nickname is the nickname that the plan set,
  -- replaced_nickname the one that the plan replaced, null for none. replaced_at is null if the plan replaced nothing
  -- lately.
  CREATE TABLE role_members (
    pid TEXT NOT NULL, guild_id TEXT NOT NULL, chat_id TEXT NOT NULL, mark INTEGER NOT NULL, since INTEGER,
    due_at INTEGER, nickname TEXT, replaced_nickname TEXT, replaced_at INTEGER, PRIMARY KEY (pid, guild_id, chat_id)
  );
  CREATE INDEX role_members_by_since ON role_members (pid, guild_id, since) WHERE since IS NOT NULL;
  CREATE INDEX role_members_by_due_at ON role_members (pid, guild_id, due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX role_members_by_user ON role_members (chat_id);
  CREATE INDEX role_members_by_replaced_at ON role_members (replaced_at) WHERE replaced_at IS NOT NULL;

  -- role_id is empty if the problem concerns the nickname.
  CREATE TABLE role_problems (
    pid TEXT NOT NULL, guild_id TEXT NOT NULL, chat_id TEXT NOT NULL, role_id TEXT NOT NULL, reason TEXT NOT NULL,
    at INTEGER NOT NULL, PRIMARY KEY (pid, guild_id, chat_id, role_id)
  );
  CREATE INDEX role_problems_by_time ON role_problems (pid, guild_id, at);
  CREATE INDEX role_problems_by_user ON role_problems (chat_id);
  -- Lists each cause of a plan once.
  CREATE INDEX role_problems_by_cause ON role_problems (pid, guild_id, reason, role_id, at DESC, chat_id);

  -- preview is JSON. It names members, so an erasure deletes it.
  CREATE TABLE role_previews (
    pid TEXT NOT NULL REFERENCES scopes (pid), guild_id TEXT NOT NULL, id TEXT NOT NULL, preview TEXT NOT NULL,
    saved_at INTEGER NOT NULL, confirmed_at INTEGER, PRIMARY KEY (pid, guild_id)
  );
  CREATE INDEX role_previews_by_time ON role_previews (saved_at);

  -- The members who gain or lose a role by the preview of rules.
  CREATE TABLE preview_members (
    pid TEXT NOT NULL, guild_id TEXT NOT NULL, preview TEXT NOT NULL, role_id TEXT NOT NULL, chat_id TEXT NOT NULL,
    change TEXT NOT NULL, kind TEXT NOT NULL, kept_until INTEGER NOT NULL,
    PRIMARY KEY (pid, guild_id, preview, role_id, chat_id)
  );
  CREATE INDEX preview_members_by_role ON preview_members (pid, guild_id, preview, change, role_id, chat_id);
  CREATE INDEX preview_members_by_user ON preview_members (chat_id);
  CREATE INDEX preview_members_by_end ON preview_members (kept_until);

  -- The users named by previews, one row each, so that the erasure of a user finds the previews.
  CREATE TABLE preview_users (
    pid TEXT NOT NULL, guild_id TEXT NOT NULL, chat_id TEXT NOT NULL, kept_until INTEGER NOT NULL,
    PRIMARY KEY (pid, guild_id, chat_id)
  );
  CREATE INDEX preview_users_by_user ON preview_users (chat_id, pid, guild_id);
  CREATE INDEX preview_users_by_end ON preview_users (kept_until);

  -- Which roles the rules gave members and took from them, and what of it is being reversed.
  CREATE TABLE role_changes (
    pid TEXT NOT NULL, guild_id TEXT NOT NULL, number INTEGER NOT NULL, chat_id TEXT NOT NULL, role_id TEXT NOT NULL,
    change TEXT NOT NULL, at INTEGER NOT NULL, because TEXT NOT NULL, outcome TEXT NOT NULL, last TEXT,
    kept_until INTEGER, PRIMARY KEY (pid, guild_id, number)
  );
  CREATE INDEX role_changes_by_last ON role_changes (pid, guild_id, last, role_id, at, number) WHERE last IS NOT NULL;
  CREATE INDEX role_changes_by_user ON role_changes (chat_id, pid, guild_id, role_id, number);
  CREATE INDEX role_changes_by_end ON role_changes (kept_until) WHERE kept_until IS NOT NULL;
  CREATE TABLE role_reversals (
    pid TEXT NOT NULL, guild_id TEXT NOT NULL, role_id TEXT NOT NULL, change TEXT NOT NULL, at INTEGER NOT NULL,
    number INTEGER NOT NULL, PRIMARY KEY (pid, guild_id, role_id, change)
  );

  -- Who turned the rules of a community on, and is told when they stop without them. unseen_at is set while a change of
  -- the plan's problems was not looked at.
  CREATE TABLE plan_notices (
    pid TEXT NOT NULL, guild_id TEXT NOT NULL, chat_id TEXT, key_id TEXT, told_at INTEGER, due_at INTEGER,
    problem_at INTEGER, problems TEXT NOT NULL, unseen_at INTEGER, PRIMARY KEY (pid, guild_id)
  );
  CREATE INDEX plan_notices_by_user ON plan_notices (chat_id, pid, guild_id) WHERE chat_id IS NOT NULL;
  CREATE INDEX plan_notices_by_due ON plan_notices (due_at, pid, guild_id) WHERE due_at IS NOT NULL;
  CREATE INDEX plan_notices_unseen ON plan_notices (unseen_at, pid, guild_id) WHERE unseen_at IS NOT NULL
`);

export const logs = changeSchema(`
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
  CREATE INDEX guild_log_users_by_user ON guild_log_users (chat_id)
`);
