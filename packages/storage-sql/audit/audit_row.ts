/** Rows of `audit_log`. */
import { Pid } from "@accountlink/core";
import { type Actor, type AuditEntry, auditActions } from "@accountlink/core/audit";
import { Schema } from "effect";
import { literalsOf, schemaReaderOf } from "../statements/row.ts";

const EntryRow = Schema.Struct({
  sequence: Schema.Int,
  at: Schema.Int,
  account: Schema.String,
  pid: Schema.NullOr(Pid),
  actor_type: literalsOf<Actor["type"]>({ key: true, operator: true, account: true, user: true }),
  actor_id: Schema.String,
  request_id: Schema.NullOr(Schema.String),
  action: Schema.Literals(auditActions),
  details: Schema.fromJsonString(
    Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Null])),
  ),
});

/** The columns of `readEntries`. */
export const entryColumns = Object.keys(EntryRow.fields).join(", ");

export const readEntries = schemaReaderOf(
  "audit_log",
  EntryRow,
  ({ actor_type, actor_id, request_id, ...row }): AuditEntry => ({
    ...row,
    actor: { type: actor_type, id: actor_id } as Actor,
    requestId: request_id,
  }),
);
