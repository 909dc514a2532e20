/**
 * Which keys count against the maximum of an account: not those with their own limits, and not
 * those of a fixture. Nodes of the previous release count every key, also those that they create.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

export const countingKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* sql`ALTER TABLE keys ADD COLUMN counts ${dialectOf(sql).integer} NOT NULL DEFAULT 1`;

  // Only the audit log has the origin of a key. Its details begin with {"keyId":" and the 12
  // characters.
  yield* sql`
    UPDATE keys SET counts = 0
    WHERE kind <> 'normal' OR id IN (
      SELECT substr(details, 11, 12) FROM audit_log
      WHERE action = 'key.created' AND actor_type = 'operator' AND actor_id = 'fixture')`;
});
