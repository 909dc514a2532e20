/** The audit log in SQL. */
import { AuditLog } from "@accountlink/core";
import { Effect, Layer } from "effect";
import { SqlClient } from "effect/sql";
import { entryColumns, readEntries } from "./internal/audit_row.ts";
import { operation } from "./internal/operation.ts";

/** The log on the database of the client, whose schema has been migrated. */
export const layer: Layer.Layer<AuditLog, never, SqlClient.SqlClient> = Layer.effect(
  AuditLog,
  Effect.map(SqlClient.SqlClient, (sql) =>
    AuditLog.of({
      list: (account, before, limit) =>
        sql`
          SELECT ${sql.literal(entryColumns)} FROM audit_log
          WHERE account = ${account} AND sequence < ${before ?? Number.MAX_SAFE_INTEGER}
          ORDER BY sequence DESC LIMIT ${limit}`.pipe(
          Effect.flatMap(readEntries),
          operation("AuditLog.list", account),
        ),
    }),
  ),
);
