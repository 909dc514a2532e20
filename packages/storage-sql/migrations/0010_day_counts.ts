/**
 * The counts of durable windows, one row each. The key begins with the end of the window, so ended
 * windows are adjacent.
 *
 * Nodes of the previous release use `node_counts` and `cache_closures`, which the next release
 * drops.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

export const dayCounts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { text, integer, tableByKey } = dialectOf(sql);

  yield* sql`
    CREATE TABLE day_counts (
      ends_at ${integer} NOT NULL,
      counter ${text} NOT NULL,
      counted ${integer} NOT NULL,
      PRIMARY KEY (ends_at, counter)
    ) ${tableByKey}`;
});
