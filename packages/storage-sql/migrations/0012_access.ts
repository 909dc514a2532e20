/**
 * What a key is for, when it was last used and when it was revoked; suspended accounts.
 *
 * Each key of a suspended account is marked, so that authentication reads no table more. Nodes of the previous release
 * accept such keys and let every key do everything; keys that they revoke have no time.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

export const access = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { text, integer } = dialectOf(sql);

  yield* sql`ALTER TABLE keys ADD COLUMN access ${text} NOT NULL DEFAULT 'full'`;
  yield* sql`ALTER TABLE keys ADD COLUMN last_used_at ${integer}`;
  yield* sql`ALTER TABLE keys ADD COLUMN revoked_at ${integer}`;
  yield* sql`ALTER TABLE keys ADD COLUMN suspended ${integer} NOT NULL DEFAULT 0`;
  yield* sql`ALTER TABLE accounts ADD COLUMN status ${text} NOT NULL DEFAULT 'active'`;
});
