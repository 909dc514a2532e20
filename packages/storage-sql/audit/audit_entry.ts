/** Writes audit entries, in the transaction of the change. */
import type { Pid } from "@accountlink/core";
import type { AuditAction, AuditEntry } from "@accountlink/core/audit";
import type { WriteContext } from "@accountlink/core/links";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect } from "effect";
import type { SqlClient, Statement } from "effect/sql";

/** An entry to write; its account may be a subquery. */
export type NewEntry = Omit<AuditEntry, "sequence" | "account"> & {
  readonly account: string | Statement.Fragment;
};

export const insertEntry = (sql: SqlClient.SqlClient, entry: NewEntry) =>
  Effect.andThen(
    Effect.sync(() => assertStorable([entry.actor.id, entry.requestId ?? ""])),
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
