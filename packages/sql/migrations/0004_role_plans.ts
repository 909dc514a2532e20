/** Adds role plans, the nodes that work on them, and the stored state of their members. */
import { changeSchema } from "./change_schema.ts";

export const rolePlans = changeSchema(`
  -- The nodes have processed the events of the scope up to position, so that every member that such an event affects
  -- was added to role_members. sweep_total is null while no sweep runs.
  CREATE TABLE role_plans (
    pid TEXT NOT NULL REFERENCES scopes (pid), guild_id TEXT NOT NULL, rules TEXT NOT NULL, nickname TEXT,
    state TEXT NOT NULL, position INTEGER NOT NULL, revision INTEGER NOT NULL, swept_at INTEGER,
    sweep_started_at INTEGER, sweep_after TEXT, sweep_done INTEGER NOT NULL, sweep_total INTEGER, holder TEXT,
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
  CREATE INDEX role_problems_by_user ON role_problems (chat_id)
`);
