import { changeSchema } from "./change_schema.ts";

export const provenAt = changeSchema(`
  -- When the account of a link was proven, if a write without a proof has confirmed the link since; else null.
  ALTER TABLE links ADD COLUMN proven_at INTEGER;
  ALTER TABLE import_links ADD COLUMN previous_proven_at INTEGER
`);
