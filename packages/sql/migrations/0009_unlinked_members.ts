/** Adds to role plans what becomes of members without a link, and when a plan was paused. */
import { changeSchema } from "./change_schema.ts";

export const unlinkedMembers = changeSchema(`
  -- paused_at is null while the plan is on, and if it was never on. A plan that was swept has been on.
  ALTER TABLE role_plans ADD COLUMN unlinked TEXT;
  ALTER TABLE role_plans ADD COLUMN paused_at INTEGER;
  UPDATE role_plans SET paused_at = sweep_started_at WHERE state = 'paused' AND sweep_started_at IS NOT NULL
`);
