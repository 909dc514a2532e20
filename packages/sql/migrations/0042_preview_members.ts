/** Whom a preview of rules found to gain or lose a role. */
import { changeSchema } from "./change_schema.ts";

export const previewMembers = changeSchema(`
  CREATE TABLE preview_members (
    pid TEXT NOT NULL,
    guild_id TEXT NOT NULL,
    preview TEXT NOT NULL,
    role_id TEXT NOT NULL,
    chat_id TEXT NOT NULL,
    change TEXT NOT NULL,
    kind TEXT NOT NULL,
    kept_until INTEGER NOT NULL,
    PRIMARY KEY (pid, guild_id, preview, role_id, chat_id)
  );
  CREATE INDEX preview_members_by_role ON preview_members (pid, guild_id, preview, change, role_id, chat_id);
  CREATE INDEX preview_members_by_user ON preview_members (chat_id);
  CREATE INDEX preview_members_by_end ON preview_members (kept_until)
`);
