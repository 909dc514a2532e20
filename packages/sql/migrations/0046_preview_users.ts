/** A row for each user whom a preview of rules names. With it an erasure of the user finds the preview. */
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
