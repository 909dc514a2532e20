import type { ChatId } from "@accountlink/core";
import type { AuditEntry } from "@accountlink/core/audit";
import { withoutUser } from "@accountlink/core/users";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { entryColumns, readEntries } from "../audit/audit_log.ts";
import { dialectOf } from "../statements/dialect.ts";

/** Returns a function that finds audit entries that name a chat user or one of the user's accounts, oldest first. */
export const userEntriesOn = (sql: SqlClient.SqlClient) => {
  const { isAmong } = dialectOf(sql);
  return Effect.fnUntraced(function* (chatId: ChatId, accountNames: ReadonlyArray<string>) {
    const entries = yield* Effect.flatMap(
      sql`
        SELECT ${entryColumns} FROM audit_log WHERE chat_id = ${chatId}
        UNION SELECT ${entryColumns} FROM audit_log WHERE other_chat_id = ${chatId}
        UNION SELECT ${entryColumns} FROM audit_log WHERE member = ${chatId}
        UNION SELECT ${entryColumns} FROM audit_log
          WHERE account ${isAmong(JSON.stringify(accountNames))} AND actor_type = 'account'
        ORDER BY sequence`,
      readEntries,
    );
    return entries.filter((entry: AuditEntry) => withoutUser(entry, chatId, accountNames) !== null);
  });
};
