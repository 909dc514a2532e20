/** Which changes of a plan's problems were not looked at yet. */
import { changeSchema } from "./change_schema.ts";

export const unseenProblems = changeSchema(`
  ALTER TABLE plan_notices ADD COLUMN unseen_at INTEGER;
  CREATE INDEX plan_notices_unseen ON plan_notices (unseen_at, pid, guild_id) WHERE unseen_at IS NOT NULL
`);
