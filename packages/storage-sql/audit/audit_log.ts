/** `AuditLog` in SQL. */
import { AuditLog } from "@accountlink/core";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Layer } from "effect";
import { SqlClient } from "effect/sql";
import { operation } from "../statements/operation.ts";
import { entryColumns, readEntries } from "./audit_row.ts";

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

      forget: (before) => forgetAll(forgetOn(sql, before)).pipe(operation("AuditLog.forget")),
    }),
  ),
);

const batchSize = 500;

// The oldest entries have the lowest sequences, so no index of times is needed.
const forgetOn = (sql: SqlClient.SqlClient, before: Millis) => sql`
  DELETE FROM audit_log WHERE sequence IN (
    SELECT sequence FROM (SELECT sequence, at FROM audit_log ORDER BY sequence LIMIT ${batchSize}) AS oldest
    WHERE at < ${before})
  RETURNING sequence`;

/** Repeats a batch until it deletes nothing, and returns how many entries were deleted. */
const forgetAll = Effect.fnUntraced(function* <E, R>(batch: Effect.Effect<ReadonlyArray<unknown>, E, R>) {
  let forgotten = 0;
  let deleted: number;
  do {
    deleted = (yield* batch).length;
    forgotten += deleted;
  } while (deleted > 0);
  return forgotten;
});
