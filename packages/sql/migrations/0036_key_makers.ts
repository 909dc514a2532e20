/** Keys that manage act with the rights of the owner who made them. */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { changeSchema } from "./change_schema.ts";

const columns = changeSchema(`
  -- The chat ID of the member who made the secret of the key, or gave it the access manage; null for the operator.
  ALTER TABLE keys ADD COLUMN made_by TEXT;
  CREATE INDEX keys_by_maker ON keys (made_by) WHERE made_by IS NOT NULL
`);

export const keyMakers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const detail = (name: string) =>
    sql.literal(dialectOf(sql).commitsInOrder ? `details ->> '${name}'` : `details::json ->> '${name}'`);
  yield* columns;
  yield* sql`
    UPDATE keys SET made_by = (
      SELECT member FROM journal
      WHERE place = keys.pid AND action IN ('key.created', 'key.rotated', 'key.updated') AND actor_type = 'account'
        AND ${detail("keyId")} = keys.id AND (action <> 'key.updated' OR ${detail("access")} = 'manage')
      ORDER BY sequence DESC LIMIT 1)`;
});
