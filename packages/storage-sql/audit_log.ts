/** The audit log in SQL. */
import { type Actor, type AuditAction, type AuditEntry, AuditLog, Pid } from "@accountlink/core";
import { Effect, Layer, Schema } from "effect";
import { SqlClient } from "effect/sql";
import { operation } from "./internal/operation.ts";
import { literalsOf, schemaReaderOf } from "./internal/row.ts";

/** The log on the database of the client, whose schema has been migrated. */
export const layer: Layer.Layer<AuditLog, never, SqlClient.SqlClient> = Layer.effect(
  AuditLog,
  Effect.map(SqlClient.SqlClient, (sql) =>
    AuditLog.of({
      list: (account, before, limit) =>
        sql`
          SELECT sequence, at, account, pid, actor_type, actor_id, request_id, action, details FROM audit_log
          WHERE account = ${account} AND sequence < ${before ?? Number.MAX_SAFE_INTEGER}
          ORDER BY sequence DESC LIMIT ${limit}`.pipe(
          Effect.flatMap(readEntries),
          operation("AuditLog.list", account),
        ),
    }),
  ),
);

const EntryRow = Schema.Struct({
  sequence: Schema.Int,
  at: Schema.Int,
  account: Schema.String,
  pid: Schema.NullOr(Pid),
  actor_type: literalsOf<Actor["type"]>({ key: true, operator: true, account: true, user: true }),
  actor_id: Schema.String,
  request_id: Schema.NullOr(Schema.String),
  action: literalsOf<AuditAction>({
    "link.set": true,
    "link.moved": true,
    "link.removed": true,
    "links.imported": true,
    "scope.deleted": true,
    "key.created": true,
    "key.rotated": true,
    "key.status_changed": true,
    "key.reported": true,
  }),
  details: Schema.fromJsonString(
    Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Null])),
  ),
});

const readEntries = schemaReaderOf(
  "audit_log",
  EntryRow,
  ({ actor_type, actor_id, request_id, ...row }): AuditEntry => ({
    ...row,
    actor: { type: actor_type, id: actor_id } as Actor,
    requestId: request_id,
  }),
);
