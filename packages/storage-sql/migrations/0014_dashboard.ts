/**
 * Sign-ins of people to the dashboard and to their own data, and those that have begun; the audit
 * log of an account by action and by key.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

export const dashboard = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { text, integer, tableByKey } = dialectOf(sql);

  yield* sql`
    CREATE TABLE begun_sign_ins (
      state_hash ${text} NOT NULL PRIMARY KEY,
      site ${text} NOT NULL,
      expires_at ${integer} NOT NULL
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX begun_sign_ins_by_deadline ON begun_sign_ins (expires_at)`;

  // guilds is null if the platform did not report them.
  yield* sql`
    CREATE TABLE site_sign_ins (
      id ${text} NOT NULL PRIMARY KEY,
      site ${text} NOT NULL,
      chat_id ${text} NOT NULL,
      guilds ${text},
      created_at ${integer} NOT NULL,
      expires_at ${integer} NOT NULL
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX site_sign_ins_by_user ON site_sign_ins (chat_id, site)`;
  yield* sql`CREATE INDEX site_sign_ins_by_deadline ON site_sign_ins (expires_at)`;

  yield* sql`CREATE INDEX audit_log_by_action ON audit_log (account, action, sequence)`;
  yield* sql`
    CREATE INDEX audit_log_by_key ON audit_log (actor_id, account, sequence) WHERE actor_type = 'key'`;
});
