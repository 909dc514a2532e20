/**
 * What outlasts the counters of the limits: the nodes that live, and what each of them knows of the windows that last.
 *
 * `node_counts` begins with the end of the window, so that what is over lies together.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../internal/dialect.ts";

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
