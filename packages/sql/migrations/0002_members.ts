/** Creates the table of account members, and adds the column `account` to sign-ins and `member` to audit entries. */
import { Clock, Effect } from "effect";
import { SqlClient } from "effect/sql";
import { changeSchema } from "./change_schema.ts";

export const members = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* changeSchema(`
    -- chosen_at is when the user last chose the account at the dashboard.
    CREATE TABLE members (
      account TEXT NOT NULL REFERENCES accounts (name), chat_id TEXT NOT NULL, role TEXT NOT NULL,
      since INTEGER NOT NULL, chosen_at INTEGER, PRIMARY KEY (account, chat_id)
    );
    CREATE INDEX members_by_chat_user ON members (chat_id);
    ALTER TABLE site_sign_ins ADD COLUMN account TEXT;
    ALTER TABLE audit_log ADD COLUMN member TEXT;
    CREATE INDEX audit_log_by_member ON audit_log (member) WHERE member IS NOT NULL`);
  const now = yield* Clock.currentTimeMillis;
  yield* sql`
    INSERT INTO members (account, chat_id, role, since, chosen_at)
    SELECT name, chat_id, 'owner', ${now}, ${now} FROM accounts WHERE chat_id IS NOT NULL`;
});
