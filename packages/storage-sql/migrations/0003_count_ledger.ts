/**
 * Live nodes, and their counts of durable windows. The key of `node_counts` begins with the end of
 * the window, so ended windows are adjacent.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

export const countLedger = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { text, integer, tableByKey } = dialectOf(sql);

  yield* sql`
    CREATE TABLE nodes (
      id ${text} NOT NULL PRIMARY KEY,
      lives_until ${integer} NOT NULL
    ) ${tableByKey}`;

  yield* sql`
    CREATE TABLE node_counts (
      ends_at ${integer} NOT NULL,
      counter ${text} NOT NULL,
      node_id ${text} NOT NULL,
      counted ${integer} NOT NULL,
      own ${integer} NOT NULL,
      PRIMARY KEY (ends_at, counter, node_id)
    ) ${tableByKey}`;
});
