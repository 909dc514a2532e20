/** Adds the previews of role plans for all members of a guild. */
import { changeSchema } from "./change_schema.ts";

export const rolePreviews = changeSchema(`
  -- preview is JSON. It names members, so an erasure deletes it.
  CREATE TABLE role_previews (
    pid TEXT NOT NULL REFERENCES scopes (pid), guild_id TEXT NOT NULL, id TEXT NOT NULL, preview TEXT NOT NULL,
    saved_at INTEGER NOT NULL, confirmed_at INTEGER, PRIMARY KEY (pid, guild_id)
  );
  CREATE INDEX role_previews_by_time ON role_previews (saved_at)
`);
