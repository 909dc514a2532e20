/**
 * When an import last stored a batch, so that its progress can be forgotten; accounts by chat user, for whoever erases
 * one. A node of the release before leaves the time out, and its imports are remembered for good.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../internal/dialect.ts";

export const retention = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { integer, now } = dialectOf(sql);

  yield* sql`ALTER TABLE import_progress ADD COLUMN saved_at ${integer}`;
  yield* sql`UPDATE import_progress SET saved_at = ${now}`;
  yield* sql`CREATE INDEX import_progress_by_age ON import_progress (saved_at)`;
  yield* sql`CREATE INDEX accounts_by_chat_user ON accounts (chat_id) WHERE chat_id IS NOT NULL`;
});
