/** Adds the blocked game users whose links are being removed in steps. */
import { changeSchema } from "./change_schema.ts";

/** entry is the sequence number of the audit entry of the block. */
export const blockRemovals = changeSchema(`
  CREATE TABLE block_removals (
    pid TEXT NOT NULL REFERENCES scopes (pid), game_id TEXT NOT NULL, entry INTEGER NOT NULL,
    PRIMARY KEY (pid, game_id)
  )
`);
