/** Keys that manage act with the rights of the owner who made them. */
import { Effect } from "effect";
import { SqlClient, type Statement } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { changeSchema, IsPreparing } from "./change_schema.ts";

const columns = changeSchema(`
  -- The chat ID of the member who made the secret of the key, or gave it the access manage; null for the operator.
  ALTER TABLE keys ADD COLUMN made_by TEXT;
  CREATE INDEX keys_by_maker ON keys (made_by) WHERE made_by IS NOT NULL
`);

const keysOfBatch = 500;

export const keyMakers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { commitsInOrder } = dialectOf(sql);
  const detail = (name: string) =>
    sql.literal(commitsInOrder ? `details ->> '${name}'` : `details::json ->> '${name}'`);
  const fill = (keys: Statement.Fragment) => sql`
    UPDATE keys SET made_by = (
      SELECT member FROM journal
      WHERE place = keys.pid AND action IN ('key.created', 'key.rotated', 'key.updated') AND actor_type = 'account'
        AND ${detail("keyId")} = keys.id AND (action <> 'key.updated' OR ${detail("access")} = 'manage')
      ORDER BY sequence DESC LIMIT 1)
    WHERE ${keys}`;
  yield* columns;
  if (commitsInOrder) yield* fill(sql`true`);
  // On Postgres, the preparation has filled the column.
  if (!(yield* IsPreparing)) return;
  let after: string | undefined = "";
  while (after !== undefined) {
    const batch: ReadonlyArray<{ readonly id: string }> = yield* sql<{ readonly id: string }>`
      SELECT id FROM keys WHERE id > ${after} ORDER BY id LIMIT ${keysOfBatch}`;
    const last = batch.at(-1)?.id;
    if (last !== undefined) yield* dialectOf(sql).asBulk(fill(sql`id > ${after} AND id <= ${last}`));
    after = last;
  }
});
