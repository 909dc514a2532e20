/** The audit log in SQL. */
import { AuditLog, type Millis } from "@accountlink/core";
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

      forget: (before) => forgetAll(forgetOn(sql, before)).pipe(operation("AuditLog.forget")),
    }),
  ),
);

/** How many entries a step looks at. */
const stepSize = 500;

// The log is written in the order of its sequence, so what is over is at its beginning, and no index of times is needed.
const forgetOn = (sql: SqlClient.SqlClient, before: Millis) => sql`
  DELETE FROM audit_log WHERE sequence IN (
    SELECT sequence FROM (SELECT sequence, at FROM audit_log ORDER BY sequence LIMIT ${stepSize}) AS oldest
    WHERE at < ${before})
  RETURNING sequence`;

/** Runs a step until it deletes nothing, and gives how much all of them deleted. */
const forgetAll = Effect.fnUntraced(function* <E, R>(step: Effect.Effect<ReadonlyArray<unknown>, E, R>) {
  let forgotten = 0;
  let deleted: number;
  do {
    deleted = (yield* step).length;
    forgotten += deleted;
  } while (deleted > 0);
  return forgotten;
});
