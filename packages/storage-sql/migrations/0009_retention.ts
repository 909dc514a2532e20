/**
 * The time of the last batch of an import, so its progress can expire; accounts by chat user, for
 * erasures. Nodes of the previous release leave the time out, so progress of their imports stays.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

export const retention = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { integer, now } = dialectOf(sql);

  yield* sql`ALTER TABLE import_progress ADD COLUMN saved_at ${integer}`;
  yield* sql`UPDATE import_progress SET saved_at = ${now}`;
  yield* sql`CREATE INDEX import_progress_by_age ON import_progress (saved_at)`;
  yield* sql`CREATE INDEX accounts_by_chat_user ON accounts (chat_id) WHERE chat_id IS NOT NULL`;
});
