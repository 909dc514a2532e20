import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import type { Dialect } from "../../statements/dialect.ts";

/** These tables have no foreign keys, because each insert would lock the rows that it references. */
export const events = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { text, integer, sequence, table, tableByKey }: Dialect,
) {
  // position is null until the event is numbered in the feed of its scope.
  yield* sql`
    CREATE TABLE events (
      sequence ${sequence},
      pid ${text} NOT NULL,
      position ${integer},
      id ${text} NOT NULL,
      type ${text} NOT NULL,
      at ${integer} NOT NULL,
      data ${text} NOT NULL
    ) ${table}`;
  yield* sql`CREATE INDEX events_by_position ON events (pid, position) WHERE position IS NOT NULL`;
  yield* sql`CREATE INDEX events_unnumbered ON events (pid, sequence) WHERE position IS NULL`;
  yield* sql`CREATE INDEX events_of_erasures ON events (at) WHERE type = 'user.erased'`;

  // The last position that was deleted from each feed.
  yield* sql`
    CREATE TABLE feed_starts (
      pid ${text} NOT NULL PRIMARY KEY,
      position ${integer} NOT NULL
    ) ${tableByKey}`;
});
