import { changeSchema } from "./change_schema.ts";

export const reminders = changeSchema(`
  -- hash is a keyed hash of the member, so that an erasure leaves it.
  CREATE TABLE reminders (
    pid TEXT NOT NULL, guild_id TEXT NOT NULL, hash TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (pid, guild_id, hash)
  );
  CREATE INDEX reminders_by_time ON reminders (pid, guild_id, at)
`);
