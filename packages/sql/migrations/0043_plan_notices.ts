/** Who turned the rules of a community on, and is told when they stop without them. */
import { changeSchema } from "./change_schema.ts";

export const planNotices = changeSchema(`
  CREATE TABLE plan_notices (
    pid TEXT NOT NULL,
    guild_id TEXT NOT NULL,
    chat_id TEXT,
    key_id TEXT,
    told_at INTEGER,
    due_at INTEGER,
    problem_at INTEGER,
    problems TEXT NOT NULL,
    PRIMARY KEY (pid, guild_id)
  );
  CREATE INDEX plan_notices_by_user ON plan_notices (chat_id, pid, guild_id) WHERE chat_id IS NOT NULL;
  CREATE INDEX plan_notices_by_due ON plan_notices (due_at, pid, guild_id) WHERE due_at IS NOT NULL
`);
