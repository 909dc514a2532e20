/** Adds the erasures that steps have begun, and the order in which the steps find the records that name a user. */
import { changeSchema } from "./change_schema.ts";

export const erasures = changeSchema(`
  -- step_at is the time of the last step.
  CREATE TABLE erasures (
    chat_id TEXT NOT NULL PRIMARY KEY, pseudonym TEXT NOT NULL, actor_type TEXT NOT NULL, actor_id TEXT NOT NULL,
    member TEXT, request_id TEXT, step_at INTEGER NOT NULL
  );
  CREATE INDEX journal_of_member ON journal (member, sequence) WHERE member IS NOT NULL;
  CREATE INDEX journal_of_account ON journal (actor_id, sequence) WHERE actor_type = 'account';
  DROP INDEX journal_by_member
`);
