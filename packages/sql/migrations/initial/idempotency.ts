import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import type { Dialect } from "../../statements/dialect.ts";

export const idempotency = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { text, integer, tableByKey }: Dialect,
) {
  // A request in progress has no answer, and holds its idempotency key until held_until. An answered request has no
  // held_until, and keeps the key until ends_at. erased is 1 if an erasure left only the hashes id and fingerprint.
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
