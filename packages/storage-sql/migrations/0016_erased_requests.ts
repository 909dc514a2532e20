/**
 * What an erasure leaves of requests under idempotency keys: their hashes, so that none is done again.
 *
 * An erased request has no request ID, so nodes of the previous release commit nothing with it either. To them it is under
 * way until its end, as is one that ended without an answer.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

export const erasedRequests = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { integer } = dialectOf(sql);

  // Until when a request without an answer holds its key; null stands for ends_at.
  yield* sql`ALTER TABLE idempotency_keys ADD COLUMN held_until ${integer}`;
  yield* sql`ALTER TABLE idempotency_keys ADD COLUMN erased ${integer} NOT NULL DEFAULT 0`;
});
