import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import type { Dialect } from "../../statements/dialect.ts";

/** Sign-ins to the dashboard and to the user pages. */
export const signIns = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { text, integer, tableByKey }: Dialect,
) {
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
});
