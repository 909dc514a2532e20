/** Which roles the rules gave members and took from them, and what of it is being reversed. */
import { changeSchema } from "./change_schema.ts";

export const roleHistory = changeSchema(`
  CREATE TABLE role_changes (
    pid TEXT NOT NULL,
    guild_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    chat_id TEXT NOT NULL,
    role_id TEXT NOT NULL,
    change TEXT NOT NULL,
    at INTEGER NOT NULL,
    because TEXT NOT NULL,
    outcome TEXT NOT NULL,
    last TEXT,
    kept_until INTEGER,
    PRIMARY KEY (pid, guild_id, number)
  );
  CREATE INDEX role_changes_by_last ON role_changes (pid, guild_id, last, role_id, at, number) WHERE last IS NOT NULL;
  CREATE INDEX role_changes_by_user ON role_changes (chat_id, pid, guild_id, role_id, number);
  CREATE INDEX role_changes_by_end ON role_changes (kept_until) WHERE kept_until IS NOT NULL;
  CREATE TABLE role_reversals (
    pid TEXT NOT NULL,
    guild_id TEXT NOT NULL,
    role_id TEXT NOT NULL,
    change TEXT NOT NULL,
    at INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (pid, guild_id, role_id, change)
  )
`);
