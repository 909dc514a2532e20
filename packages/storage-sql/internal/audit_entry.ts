/**
 * Writing the audit log, in the transaction of what an entry records.
 */
import type { AuditAction, AuditEntry, Pid, WriteContext } from "@accountlink/core";
import { Effect } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { assertStorable } from "./storable_text.ts";

/** An entry as it is written; its account may be a subquery. */
export type NewEntry = Omit<AuditEntry, "sequence" | "account"> & {
  readonly account: string | Statement.Fragment;
};

/** Inserts one entry. */
export const insertEntry = (sql: SqlClient.SqlClient, entry: NewEntry) =>
  Effect.andThen(
    assertStorable([entry.actor.id, entry.requestId ?? ""]),
    sql`
      INSERT INTO audit_log (at, account, pid, actor_type, actor_id, request_id, action, details)
      VALUES (${entry.at}, ${entry.account}, ${entry.pid}, ${entry.actor.type}, ${entry.actor.id},
        ${entry.requestId}, ${entry.action}, ${JSON.stringify(entry.details)})`,
  );

/** Inserts the entry of a write to the links of a scope. */
export const insertLinkEntry = (
  sql: SqlClient.SqlClient,
  { actor, requestId, at, pid }: WriteContext,
  action: AuditAction,
  details: AuditEntry["details"],
) => insertEntry(sql, { actor, requestId, at, account: ownerOf(sql, pid), pid, action, details });

/** The account that owns a scope. */
export const ownerOf = (sql: SqlClient.SqlClient, pid: Pid): Statement.Fragment =>
  sql`(SELECT account FROM scopes WHERE pid = ${pid})`;
