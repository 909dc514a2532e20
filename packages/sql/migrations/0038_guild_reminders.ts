/** A member of a guild is reminded once, whichever scope of the guild reminds. */
import { changeSchema } from "./change_schema.ts";

export const guildReminders = changeSchema(`
  CREATE INDEX reminders_by_member ON reminders (guild_id, hash);
  CREATE INDEX reminders_of_guild ON reminders (guild_id, at);
  DROP INDEX reminders_by_time
`);
