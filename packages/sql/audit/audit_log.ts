import { AuditLog, Pid } from "@accountlink/core";
import {
  type Actor,
  type AuditAction,
  type AuditEntry,
  type AuditFilter,
  auditActions,
} from "@accountlink/core/audit";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Schema } from "effect";
import { SqlClient, type Statement } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { batchSize, inBatches } from "../statements/in_batches.ts";
import { mergedPage } from "../statements/merged_page.ts";
import { literalsOf, tableOf } from "../statements/row.ts";
import { storeLayer } from "../statements/store_operation.ts";

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

export const layer = storeLayer(AuditLog)(({ sql, operation }) => ({
  list: operation("list", (account, before, limit, filter) => {
    assertStorable([account]);
    return readEntries(listOn(sql, account, before, limit, filter));
  }),

  forget: operation("forget", (before) => {
    // The oldest entries have the lowest sequences, so this needs no index of times.
    const batch = sql`
      DELETE FROM audit_log WHERE sequence IN (
        SELECT sequence FROM (SELECT sequence, at FROM audit_log ORDER BY sequence LIMIT ${batchSize}) AS oldest
        WHERE at < ${before})`;
    // Stop only at a batch that deletes no row. A batch selects entries by sequence, which is not exactly the order
    // of time, so any batch may contain entries that are too new to be deleted.
    return inBatches(Effect.map(batch.raw, dialectOf(sql).rowsWritten), 1);
  }),
}));

const listOn = (
  sql: SqlClient.SqlClient,
  account: string,
  before: number | null,
  limit: number,
  filter: AuditFilter = { action: null, keyId: null },
) => {
  const { action, keyId, chatId = null, readable = null } = filter;
  const actions = (readable ?? auditActions).filter((each) => action === null || each === action);
  if (actions.length === 0) return Effect.succeed([]);
  const entries = sql`SELECT ${entryColumns} FROM audit_log`;
  const page = sql`ORDER BY sequence DESC LIMIT ${limit}`;
  const isOlder = sql.and([
    sql`account = ${account}`,
    sql`sequence < ${before ?? Number.MAX_SAFE_INTEGER}`,
    ...wantedBy(sql, filter),
  ]);
  const isNext =
    actions.length === auditActions.length ? isOlder : sql`${isOlder} AND ${isAction(sql, actions)}`;
  const byKey = sql`actor_type = 'key' AND actor_id = ${keyId}`;
  const namesKey = sql`details <> REPLACE(details, ${`"keyId":"${keyId}"`}, '')`;
  if (chatId !== null) {
    const isOfKey = keyId === null ? sql`1 = 1` : sql`(${byKey} OR ${namesKey})`;
    // Two selects, so that each uses an index.
    const about = (column: string) =>
      sql`${entries} WHERE ${sql(column)} = ${chatId} AND ${isNext} AND ${isOfKey} ${page}`;
    return sql`
      SELECT * FROM (${about("chat_id")}) AS one UNION SELECT * FROM (${about("other_chat_id")}) AS other ${page}`;
  }
  if (keyId === null) {
    if (actions.length === 1) return sql`${entries} WHERE ${isNext} ${page}`;
    // Search the index by action once for each action. A single search for all actions would need another index, which
    // would slow down every write.
    const having = (each: AuditAction) =>
      sql`SELECT sequence FROM audit_log WHERE ${isOlder} AND ${isAction(sql, [each])}`;
    const latest = mergedPage(sql, actions.map(having), page);
    return sql`${entries} WHERE sequence ${dialectOf(sql).isAnyOf(latest)} ${page}`;
  }
  // Two selects, so that each uses an index: an OR would read all entries of the account. Changes of keys are rare. With
  // ORDER BY `sequence`, Postgres would find them by reading all entries of the account, newest first. Ordering by
  // `sequence + 0` prevents that.
  const keyActions = auditActions.filter((each) => each.startsWith("key."));
  const byThisKey = sql`${entries} WHERE ${isNext} AND ${byKey} ${page}`;
  const ofThisKey = sql`
    ${entries} WHERE ${isNext} AND ${isAction(sql, keyActions)} AND actor_id <> ${keyId} AND ${namesKey}
    ORDER BY sequence + 0 DESC LIMIT ${limit}`;
  return sql`SELECT * FROM (${byThisKey}) AS by_key UNION ALL SELECT * FROM (${ofThisKey}) AS of_key ${page}`;
};

/** The conditions of a filter that no index serves. */
const wantedBy = (
  sql: SqlClient.SqlClient,
  { pid = null, member = null, during = null }: AuditFilter,
): ReadonlyArray<Statement.Fragment> => [
  ...(pid === null ? [] : [sql`pid = ${pid}`]),
  ...(member === null ? [] : [sql`member = ${member}`]),
  ...(during === null ? [] : [sql`at >= ${during.from} AND at < ${during.before}`]),
];

/** The actions are constant text, so that a prepared plan can use the index by action. */
const isAction = (sql: SqlClient.SqlClient, actions: ReadonlyArray<AuditAction>) =>
  sql.literal(`action IN (${actions.map((action) => `'${action}'`).join(", ")})`);
