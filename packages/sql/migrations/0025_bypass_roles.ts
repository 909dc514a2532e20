import { changeSchema } from "./change_schema.ts";

export const bypassRoles = changeSchema(`
  -- JSON lists of role IDs. bypass_role_ids is null in rows that only bypass_role_id describes.
  ALTER TABLE role_plans ADD COLUMN bypass_role_ids TEXT;
  ALTER TABLE role_plans ADD COLUMN nickname_bypass_role_ids TEXT
`);
