/**
 * Requests under idempotency keys, and their answers.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

export const idempotency = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { text, integer, tableByKey } = dialectOf(sql);

  // answer is null while the request is under way.
  yield* sql`
    CREATE TABLE idempotency_keys (
      id ${text} NOT NULL PRIMARY KEY,
      request_id ${text} NOT NULL,
      fingerprint ${text} NOT NULL,
      answer ${text},
      chat_ids ${text} NOT NULL,
      ends_at ${integer} NOT NULL
    ) ${tableByKey}`;
  yield* sql`CREATE INDEX idempotency_keys_by_end ON idempotency_keys (ends_at)`;
});
