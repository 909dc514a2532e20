import type { ChatId } from "@accountlink/core";
import type { AuditEntry } from "@accountlink/core/audit";
import { withoutUser } from "@accountlink/core/users";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { entryColumns, readEntries } from "../audit/audit_row.ts";
import { dialectOf } from "../statements/dialect.ts";

/**
 * Returns the entries that name a chat user or an account of theirs, oldest first. Scans the whole
 * log, which is acceptable for a rare operation.
 */
export const userEntriesOn = (sql: SqlClient.SqlClient) => {
  const { isAmong } = dialectOf(sql);
  const columns = sql.literal(entryColumns);
  return Effect.fnUntraced(function* (chatId: ChatId, accountNames: ReadonlyArray<string>) {
    const entries = yield* Effect.flatMap(
      sql`
        SELECT ${columns} FROM audit_log
        WHERE details LIKE ${`%"${chatId}"%`} OR actor_type = 'user' AND actor_id = ${chatId}
          OR actor_type = 'account' AND actor_id ${isAmong(JSON.stringify(accountNames))}
        ORDER BY sequence`,
      readEntries,
    );
    return entries.filter((entry: AuditEntry) => withoutUser(entry, chatId, accountNames) !== null);
  });
};
