/** An index of the communities that remind their members, which one node looks for every few seconds. */
import { changeSchema } from "./change_schema.ts";

export const reminding = changeSchema(
  "CREATE INDEX communities_reminding ON communities (pid, guild_id) WHERE settings ->> 'remindAfterDays' IS NOT NULL",
);
