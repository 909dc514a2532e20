import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import type { Dialect } from "../../statements/dialect.ts";

/** `chat_id` and `other_chat_id` are the chat users affected by an entry. */
export const auditLog = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { text, integer, sequence, table }: Dialect,
) {
  yield* sql`
    CREATE TABLE audit_log (
      sequence ${sequence},
      at ${integer} NOT NULL,
      account ${text} NOT NULL,
      pid ${text},
      actor_type ${text} NOT NULL,
      actor_id ${text} NOT NULL,
      request_id ${text},
      action ${text} NOT NULL,
      details ${text} NOT NULL,
      chat_id ${text},
      other_chat_id ${text}
    ) ${table}`;
  yield* sql`CREATE INDEX audit_log_by_action ON audit_log (account, action, sequence)`;
  yield* sql`
    CREATE INDEX audit_log_by_key ON audit_log (actor_id, account, sequence) WHERE actor_type = 'key'`;
  for (const column of ["chat_id", "other_chat_id"]) {
    yield* sql`
      CREATE INDEX ${sql(`audit_log_by_${column}`)} ON audit_log (${sql(column)}, account, sequence)
      WHERE ${sql(column)} IS NOT NULL`;
  }
});
