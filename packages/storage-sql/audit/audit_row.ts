/** Rows of `audit_log`. */
import { Pid } from "@accountlink/core";
import type { Actor, AuditAction, AuditEntry } from "@accountlink/core/audit";
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
  action: literalsOf<AuditAction>({
    "link.set": true,
    "link.moved": true,
    "link.removed": true,
    "links.imported": true,
    "scope.deleted": true,
    "review.set": true,
    "review.deleted": true,
    "key.created": true,
    "key.updated": true,
    "key.rotated": true,
    "key.status_changed": true,
    "key.reported": true,
    "account.updated": true,
    "user.erased": true,
  }),
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
