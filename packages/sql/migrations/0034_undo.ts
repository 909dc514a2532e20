import { changeSchema } from "./change_schema.ts";

export const undo = changeSchema(`
  -- When the link that an import replaced was made; null in imports of earlier releases.
  ALTER TABLE import_links ADD COLUMN previous_linked_at INTEGER;
  -- When the link was made that the last write removed; null after any other write.
  ALTER TABLE links ADD COLUMN removed_linked_at INTEGER
`);
