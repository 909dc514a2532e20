/** Adds to role plans the group of the nickname and the role whose members are left alone. */
import { changeSchema } from "./change_schema.ts";

export const groupRoles = changeSchema(`
  ALTER TABLE role_plans ADD COLUMN nickname_group_id TEXT;
  ALTER TABLE role_plans ADD COLUMN bypass_role_id TEXT
`);
