/** Adds which users new links were found to resemble. */
import { changeSchema } from "./change_schema.ts";

export const suspects = changeSchema(`
  CREATE TABLE suspects (
    pid TEXT NOT NULL REFERENCES scopes (pid), chat_id TEXT NOT NULL, other_chat_id TEXT NOT NULL,
    game_id TEXT NOT NULL, linked_at INTEGER NOT NULL, score INTEGER NOT NULL, evidence TEXT NOT NULL,
    PRIMARY KEY (pid, chat_id, other_chat_id)
  );
  CREATE INDEX suspects_by_other ON suspects (pid, other_chat_id);
  CREATE INDEX suspects_by_scope ON suspects (pid, linked_at);
  CREATE INDEX suspects_by_time ON suspects (linked_at)
`);
