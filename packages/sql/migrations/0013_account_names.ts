/** Adds the names that owners give their accounts. */
import { changeSchema } from "./change_schema.ts";

export const accountNames = changeSchema(`
  ALTER TABLE accounts ADD COLUMN display_name TEXT;
  CREATE UNIQUE INDEX accounts_by_display_name ON accounts (display_name);
`);
