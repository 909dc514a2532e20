/** Adds what each import did, for its one audit entry and its undo. */
import { changeSchema } from "./change_schema.ts";

export const importUndo = changeSchema(`
  CREATE TABLE link_imports (
    id TEXT NOT NULL PRIMARY KEY, pid TEXT NOT NULL, name TEXT NOT NULL,
    imported_at INTEGER NOT NULL, ends_at INTEGER NOT NULL,
    inserted INTEGER NOT NULL, replaced INTEGER NOT NULL, unchanged INTEGER NOT NULL, kept INTEGER NOT NULL,
    entry INTEGER, undo_entry INTEGER, removed INTEGER NOT NULL, restored INTEGER NOT NULL
  );
  CREATE INDEX link_imports_by_scope ON link_imports (pid);
  CREATE TABLE import_links (
    import_id TEXT NOT NULL, chat_id TEXT NOT NULL, game_id TEXT NOT NULL, link_version INTEGER NOT NULL,
    verified_at INTEGER NOT NULL, previous_game_id TEXT, previous_verified_at INTEGER, previous_proof TEXT,
    PRIMARY KEY (import_id, chat_id)
  )
`);
