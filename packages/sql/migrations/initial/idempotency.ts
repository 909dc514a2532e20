import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import type { Dialect } from "../../statements/dialect.ts";

export const idempotency = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { text, integer, tableByKey }: Dialect,
) {
  // answer is null while the request is in progress. held_until is when a request in progress loses its idempotency
  // key; if it is null, ends_at applies. erased is 1 once an erasure has removed everything but the two hashes.
  yield* sql`
    CREATE TABLE idempotency_keys (
      id ${text} NOT NULL PRIMARY KEY,
      request_id ${text} NOT NULL,
      fingerprint ${text} NOT NULL,
      answer ${text},
      chat_ids ${text} NOT NULL,
      ends_at ${integer} NOT NULL,
      held_until ${integer},
      erased ${integer} NOT NULL DEFAULT 0
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX idempotency_keys_by_end ON idempotency_keys (ends_at)`;
});
