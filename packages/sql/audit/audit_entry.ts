/** Writes audit entries, in the transaction of the change. */
import type { Pid } from "@accountlink/core";
import {
  type AuditAction,
  type AuditEntry,
  signedBy,
  usersOf,
  type WriteContext,
} from "@accountlink/core/audit";
import { type Happening, newEvent } from "@accountlink/core/events";
import type { SqlClient, Statement } from "effect/sql";
import { insertEventsStatement } from "../events/event_writes.ts";
import { dialectOf } from "../statements/dialect.ts";

/** An entry to write; its account may be a subquery. */
export type NewEntry = Omit<AuditEntry, "sequence" | "account"> & {
  readonly account: string | Statement.Fragment;
};

/** Inserts the audit entry of a write to a scope, and its event, if any. Returns a row with the entry's `sequence`. */
export const insertLinkEntry = (
  sql: SqlClient.SqlClient,
  { at, pid, actor, requestId }: WriteContext,
  action: AuditAction,
  details: AuditEntry["details"],
  event: Happening | null,
) => {
  const insert = insertEntry(sql, {
    at,
    account: ownerOf(sql, pid),
    pid,
    actor,
    requestId,
    action,
    details,
  });
  return event === null
    ? insert
    : dialectOf(sql).together(insertEventsStatement(sql, pid, [newEvent(at, event)]), insert);
};

export const insertEntry = (sql: SqlClient.SqlClient, entry: NewEntry) => {
  const [chatId = null, otherChatId = null] = usersOf(entry);
  return sql`
    INSERT INTO audit_log (at, account, pid, actor_type, actor_id, request_id, action, details, chat_id, other_chat_id, member)
    VALUES (${entry.at}, ${entry.account}, ${entry.pid}, ${entry.actor.type}, ${entry.actor.id},
      ${entry.requestId}, ${entry.action}, ${JSON.stringify(entry.details)}, ${chatId}, ${otherChatId},
      ${signedBy(entry).member})
    RETURNING sequence`;
};

export const ownerOf = (sql: SqlClient.SqlClient, pid: Pid): Statement.Fragment =>
  sql`(SELECT account FROM scopes WHERE pid = ${pid})`;
