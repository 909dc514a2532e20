/** Drops the table of live nodes: a node that counts requests alone no longer needs to know the others. */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";

export const dropNodes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* sql`DROP TABLE nodes`;
});
