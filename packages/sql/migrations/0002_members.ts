/** Creates the table of account members, and adds the column `account` to sign-ins and `member` to audit entries. */
import { Clock, Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

export const members = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { text, integer, tableByKey } = dialectOf(sql);
  // chosen_at is when the user last chose the account at the dashboard.
  yield* sql`
    CREATE TABLE members (
      account ${text} NOT NULL REFERENCES accounts (name),
      chat_id ${text} NOT NULL,
      role ${text} NOT NULL,
      since ${integer} NOT NULL,
      chosen_at ${integer},
      PRIMARY KEY (account, chat_id)
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX members_by_chat_user ON members (chat_id)`;
  const now = yield* Clock.currentTimeMillis;
  yield* sql`
    INSERT INTO members (account, chat_id, role, since, chosen_at)
    SELECT name, chat_id, 'owner', ${now}, ${now} FROM accounts WHERE chat_id IS NOT NULL`;
  yield* sql`ALTER TABLE site_sign_ins ADD COLUMN account ${text}`;
  yield* sql`ALTER TABLE audit_log ADD COLUMN member ${text}`;
  yield* sql`CREATE INDEX audit_log_by_member ON audit_log (member) WHERE member IS NOT NULL`;
});
