/** Writes audit entries, in the transaction of the change. */
import type { Pid } from "@accountlink/core";
import { type AuditAction, type AuditEntry, usersOf, type WriteContext } from "@accountlink/core/audit";
import { type Happening, newEvent } from "@accountlink/core/events";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { insertEventsStatement } from "../events/event_writes.ts";
import { dialectOf } from "../statements/dialect.ts";

/** An entry to write; its account may be a subquery. */
export type NewEntry = Omit<AuditEntry, "sequence" | "account"> & {
  readonly account: string | Statement.Fragment;
};

export const insertEntry = (sql: SqlClient.SqlClient, entry: NewEntry) =>
  Effect.andThen(
    Effect.sync(() => assertStorable([entry.actor.id, entry.requestId ?? ""])),
    sql`
      INSERT INTO audit_log (at, account, pid, actor_type, actor_id, request_id, action, details, chat_id, other_chat_id)
      VALUES (${entry.at}, ${entry.account}, ${entry.pid}, ${entry.actor.type}, ${entry.actor.id},
        ${entry.requestId}, ${entry.action}, ${JSON.stringify(entry.details)}, ${usersOf(entry)[0] ?? null},
        ${usersOf(entry)[1] ?? null})`,
  );

/** Inserts the entry of a write to the links of a scope, and its event, if it has one. Returns its sequence. */
export const insertLinkEntry = (
  sql: SqlClient.SqlClient,
  write: WriteContext,
  action: AuditAction,
  details: AuditEntry["details"],
  event: Happening | null,
) => {
  const returning = sql.literal("RETURNING sequence");
  return insertLinkEntries(sql, write.pid, [{ ...write, action, details, event }], returning);
};

/** The entry of a write to the links of a scope, and the event. */
type LinkEntry = Omit<WriteContext, "pid"> &
  Pick<AuditEntry, "action" | "details"> & { readonly event: Happening | null };

/** Inserts entries of one scope in order, and their events. */
export const insertLinkEntries = (
  sql: SqlClient.SqlClient,
  pid: Pid,
  entries: ReadonlyArray<LinkEntry>,
  returning = sql.literal(""),
) => {
  const rows = entries.map(({ at, actor, requestId, action, details }) => [
    at,
    actor.type,
    actor.id,
    requestId,
    action,
    JSON.stringify(details),
    ...usersOf({ actor, details }),
  ]);
  const insert = sql`
    INSERT INTO audit_log (at, account, pid, actor_type, actor_id, request_id, action, details, chat_id, other_chat_id)
    SELECT CAST(value ->> 0 AS BIGINT), ${ownerOf(sql, pid)}, ${pid}, value ->> 1, value ->> 2, value ->> 3,
      value ->> 4, value ->> 5, value ->> 6, value ->> 7
    FROM ${dialectOf(sql).elements(JSON.stringify(rows))} ${returning}`;
  const texts = entries.flatMap(({ actor, requestId }) => [actor.id, requestId ?? ""]);
  const events = entries.flatMap(({ at, event }) => (event === null ? [] : [newEvent(at, event)]));
  return Effect.andThen(
    Effect.sync(() => assertStorable(texts)),
    events.length === 0 ? insert : dialectOf(sql).together(insertEventsStatement(sql, pid, events), insert),
  );
};

/** The account that owns a scope. */
export const ownerOf = (sql: SqlClient.SqlClient, pid: Pid): Statement.Fragment =>
  sql`(SELECT account FROM scopes WHERE pid = ${pid})`;
