import { Pid } from "@accountlink/core";
import { type Actor, type AuditEntry, auditActions } from "@accountlink/core/audit";
import { Schema } from "effect";
import { literalsOf, tableOf } from "../statements/row.ts";

const { columns, reader } = tableOf("audit_log", {
  sequence: Schema.Int,
  at: Schema.Int,
  account: Schema.String,
  pid: Schema.NullOr(Pid),
  actorType: literalsOf<Actor["type"]>({ key: true, operator: true, account: true, user: true }),
  actorId: Schema.String,
  member: Schema.NullOr(Schema.String),
  requestId: Schema.NullOr(Schema.String),
  action: Schema.Literals(auditActions),
  details: Schema.fromJsonString(
    Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Null])),
  ),
});

export const entryColumns = columns;

export const readEntries = reader(
  ({ actorType: type, actorId: id, member, ...entry }): AuditEntry => ({
    ...entry,
    actor: (type === "account" ? { type, id, member } : { type, id }) as Actor,
  }),
);
