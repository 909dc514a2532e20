import type { DataScope } from "@accountlink/core";
import type { AuditAction, AuditEntry, WriteOrigin } from "@accountlink/core/audit";
import type { Millis } from "@accountlink/core/timestamp";
import { entries } from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";

/** An audit entry without its sequence, and with what was changed. */
export interface Change extends WriteOrigin {
  readonly at: Millis;
  readonly action: AuditAction;
  readonly details: AuditEntry["details"];
  /** The scope; or the name of an account, for a change of the account itself. */
  readonly of: DataScope | string;
}

/** Adds the audit entry of a change to its transaction. */
export const recordChange = (tx: Transaction, { of, actor, requestId, at, action, details }: Change) =>
  entries.add(tx, {
    sequence: tx.nextSequence(),
    actor,
    requestId,
    at,
    account: typeof of === "string" ? of : of.account,
    pid: typeof of === "string" ? null : of.pid,
    action,
    details,
  });
