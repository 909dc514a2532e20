import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import type { Dialect } from "../../statements/dialect.ts";

export const usage = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { text, integer, tableByKey }: Dialect,
) {
  // The primary key begins with the API key, since usage is read per API key.
  yield* sql`
    CREATE TABLE usage_days (
      key_id ${text} NOT NULL,
      starts_at ${integer} NOT NULL,
      route_group ${text} NOT NULL,
      served ${integer} NOT NULL,
      refused ${integer} NOT NULL,
      errors ${integer} NOT NULL,
      PRIMARY KEY (key_id, starts_at, route_group)
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX usage_days_by_age ON usage_days (starts_at)`;

  yield* sql`
    CREATE TABLE usage_meters (
      id ${text} NOT NULL PRIMARY KEY,
      last_batch ${integer} NOT NULL,
      day ${integer} NOT NULL
    ) ${tableByKey}`;
});
