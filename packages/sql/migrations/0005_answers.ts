/** Adds columns for the answer to the latest attempt of a delivery, and an index to find ended sessions by code. */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

export const answers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { text, integer } = dialectOf(sql);
  yield* sql`ALTER TABLE webhook_deliveries ADD COLUMN attempted_at ${integer}`;
  yield* sql`ALTER TABLE webhook_deliveries ADD COLUMN answered_at ${integer}`;
  yield* sql`ALTER TABLE webhook_deliveries ADD COLUMN response_type ${text}`;
  yield* sql`
    CREATE INDEX verification_sessions_by_any_code ON verification_sessions (code_hash)
    WHERE code_hash IS NOT NULL`;
});
