/**
 * The counts of lasting windows: one row for each window, ordered by its end so that what is over lies together.
 *
 * The nodes of the release before use `node_counts` of step 3 and `cache_closures` of step 5, which the next release
 * drops.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../internal/dialect.ts";

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
