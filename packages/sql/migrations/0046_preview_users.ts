/** The users named by previews of rules, one row each, so that the erasure of a user finds the previews. */
import { changeSchema } from "./change_schema.ts";

export const previewUsers = changeSchema(`
  CREATE TABLE preview_users (
    pid TEXT NOT NULL,
    guild_id TEXT NOT NULL,
    chat_id TEXT NOT NULL,
    kept_until INTEGER NOT NULL,
    PRIMARY KEY (pid, guild_id, chat_id)
  );
  CREATE INDEX preview_users_by_user ON preview_users (chat_id, pid, guild_id);
  CREATE INDEX preview_users_by_end ON preview_users (kept_until)
`);
