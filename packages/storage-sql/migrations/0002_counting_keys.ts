/**
 * Which keys count against the number of keys that an account may have: not those with limits of their own, and not
 * those of a fixture.
 *
 * A node of the release before counts every key, and so do the keys that it makes.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../internal/dialect.ts";

export const countingKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* sql`ALTER TABLE keys ADD COLUMN counts ${dialectOf(sql).integer} NOT NULL DEFAULT 1`;

  // Only the log knows where a key came from. Its details are text, which begins with {"keyId":" and the 12 characters.
  yield* sql`
    UPDATE keys SET counts = 0
    WHERE kind <> 'normal' OR id IN (
      SELECT substr(details, 11, 12) FROM audit_log
      WHERE action = 'key.created' AND actor_type = 'operator' AND actor_id = 'fixture')`;
});
