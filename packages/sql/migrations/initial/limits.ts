import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import type { Dialect } from "../../statements/dialect.ts";

export const limits = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { text, integer, tableByKey }: Dialect,
) {
  yield* sql`
    CREATE TABLE nodes (
      id ${text} NOT NULL PRIMARY KEY,
      lives_until ${integer} NOT NULL
    ) ${tableByKey}`;

  // The primary key begins with `ends_at`, so that the ended windows are adjacent and can be deleted together.
  yield* sql`
    CREATE TABLE day_counts (
      ends_at ${integer} NOT NULL,
      counter ${text} NOT NULL,
      counted ${integer} NOT NULL,
      PRIMARY KEY (ends_at, counter)
    ) ${tableByKey}`;
});
