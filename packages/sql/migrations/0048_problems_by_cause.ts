/** An index of problems by cause, which lists each cause of a plan once. */
import { changeSchema } from "./change_schema.ts";

export const problemsByCause = changeSchema(`
  CREATE INDEX role_problems_by_cause ON role_problems (pid, guild_id, reason, role_id, at DESC, chat_id)
`);
