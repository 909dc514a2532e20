import { changeSchema } from "./change_schema.ts";

export const planWork = changeSchema(`
  -- What the plan changed on each of the last days, a JSON array; null until it has changed a member.
  ALTER TABLE role_plans ADD COLUMN changed_days TEXT;
  -- When somebody asked to put nicknames back; null if nobody did.
  ALTER TABLE role_plans ADD COLUMN putting_back_since INTEGER;
  CREATE INDEX role_plans_by_putting_back ON role_plans (putting_back_since) WHERE putting_back_since IS NOT NULL
`);
