import { changeSchema } from "./change_schema.ts";

export const replacedNicknames = changeSchema(`
  -- The nickname that the plan replaced, null for none, and when. replaced_at is null if the plan replaced nothing lately.
  ALTER TABLE role_members ADD COLUMN replaced_nickname TEXT;
  ALTER TABLE role_members ADD COLUMN replaced_at INTEGER;
  CREATE INDEX role_members_by_replaced_at ON role_members (replaced_at) WHERE replaced_at IS NOT NULL
`);
