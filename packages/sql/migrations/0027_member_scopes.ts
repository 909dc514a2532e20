import { changeSchema } from "./change_schema.ts";

export const memberScopes = changeSchema(`
  -- A JSON list of the scopes of which the member sees something; null for all.
  ALTER TABLE members ADD COLUMN scopes TEXT
`);
