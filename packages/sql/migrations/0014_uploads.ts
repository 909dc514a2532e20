/** Adds the tables of uploaded imports and of their files, whose bytes are Base64. */
import { changeSchema } from "./change_schema.ts";

export const uploads = changeSchema(`
  CREATE TABLE imports (
    id TEXT NOT NULL PRIMARY KEY, account TEXT NOT NULL UNIQUE, pid TEXT, phase TEXT NOT NULL, details TEXT NOT NULL,
    inserted INTEGER NOT NULL, replaced INTEGER NOT NULL, unchanged INTEGER NOT NULL, kept INTEGER NOT NULL,
    holder TEXT NOT NULL, held_until INTEGER NOT NULL, begun_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    size INTEGER NOT NULL
  );
  CREATE TABLE import_parts (
    import_id TEXT NOT NULL REFERENCES imports (id) ON DELETE CASCADE, file TEXT NOT NULL, part INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (import_id, file, part)
  )
`);
