/** Records of stores that are written once, on tables of SQL. */
import { ChatId, GameId, Pid } from "@accountlink/core";
import type { AuditAction, AuditEntry, WriteContext } from "@accountlink/core/audit";
import type { StoreEffect } from "@accountlink/core/errors";
import {
  type KeyPart,
  type ListOptions,
  type RecordIndex,
  Records,
  type RecordType,
  type Tx,
  type TxBody,
} from "@accountlink/core/records";
import { assertStorable } from "@accountlink/core/storable_text";
import type { ErasedThing } from "@accountlink/core/users";
import { Effect, Predicate, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { insertEntry } from "./journal/records.ts";
import { linkStatements } from "./links/link_statements.ts";
import { dialectOf } from "./statements/dialect.ts";
import { deleteInBatches } from "./statements/in_batches.ts";
import { keyedWriteOn } from "./statements/keyed_write.ts";
import { columnReader, literalSql, tableOf } from "./statements/row.ts";
import { type Ending, operationsOf, type StoreParts, storeLayer } from "./statements/store_operation.ts";

type Column = Schema.Codec<unknown, unknown>;

/** The statements of a type are constant texts, with `?` for values: a template takes as long to build as SQLite to run. */
const makeTable = ({ name, fields, json, columns, key }: RecordType) => {
  const types: Record<string, Column> = { ...fields };
  for (const field of json) types[field] = Schema.NullOr(Schema.fromJsonString(fields[field] as Column));
  const { rowOf, reader } = tableOf(name, types as Readonly<Record<string, Schema.Codec<unknown>>>, columns);
  const all = Object.values(columns);
  const keyColumns = key.map((field) => columns[field] as string);
  const isKey = keyColumns.map((column) => `${column} = ?`).join(" AND ");
  const list = all.join(", ");
  const isOneOf = (count: number) => {
    const one = `(${key.map(() => "?").join(", ")})`;
    return `(${keyColumns.join(", ")}) IN (VALUES ${Array.from({ length: count }, () => one).join(", ")})`;
  };
  const insert = `INSERT INTO ${name} (${list}) VALUES (${all.map(() => "?").join(", ")})`;
  return {
    keyColumns,
    isKey,
    select: `SELECT ${list} FROM ${name}`,
    insert,
    upsert: `${insert} ON CONFLICT (${keyColumns.join(", ")}) DO UPDATE SET ${all
      .map((column) => `${column} = excluded.${column}`)
      .join(", ")}`,
    remove: `DELETE FROM ${name} WHERE ${isKey} RETURNING ${list}`,
    isOneOf,
    read: reader(),
    valuesOf: (record: object): ReadonlyArray<unknown> => {
      const values: Record<string, unknown> = { ...record };
      for (const field of json) if (values[field] !== null) values[field] = JSON.stringify(values[field]);
      return Object.values(rowOf(values));
    },
  };
};

const known = new WeakMap<RecordType, ReturnType<typeof makeTable>>();

/** The table of a type of records. */
const tableFor = (type: RecordType) => {
  const found = known.get(type) ?? makeTable(type);
  known.set(type, found);
  return found;
};

export const keyColumnsOf = (type: RecordType): ReadonlyArray<string> => tableFor(type).keyColumns;

const columnOf = ({ columns }: RecordType, field: string): string =>
  columns[field.replace("-", "")] as string;

/** The condition that the first values of an index are those of a prefix, and the next ones behind some; and its values. */
const inIndex = (
  { type, either, fields }: RecordIndex,
  prefix: ReadonlyArray<KeyPart>,
  after: ReadonlyArray<KeyPart> = [],
) => {
  const isEqual = (field: string) => `${columnOf(type, field)} = ?`;
  const [first, ...others] = prefix;
  const rest = either === undefined ? prefix : others;
  const next = fields.slice(rest.length, rest.length + after.length);
  const isAfter = next[0]?.startsWith("-") === true ? "<" : ">";
  const conditions = [
    ...(either === undefined ? [] : [`(${either.map(isEqual).join(" OR ")})`]),
    ...fields.slice(0, rest.length).map(isEqual),
    ...(next.length === 0
      ? []
      : [
          `(${next.map((field) => columnOf(type, field)).join(", ")}) ${isAfter} (${next.map(() => "?").join(", ")})`,
        ]),
  ];
  return {
    where: conditions.length === 0 ? "1 = 1" : conditions.join(" AND "),
    values: [...(either === undefined ? [] : [first, first]), ...rest, ...after],
  };
};

/** Replaces each `?` by `$1`, `$2` and so on. */
const numbered = (text: string): string => {
  let at = 0;
  return text.replaceAll("?", () => `$${++at}`);
};

/** Transactions of stores that are written once, on a connection. */
const txOn = (sql: SqlClient.SqlClient, isWrite: boolean): Tx => {
  const { forUpdate, isRemote, isAmong, usersInUse } = dialectOf(sql);
  const { lockScope } = linkStatements(sql);
  const run = (text: string, values: ReadonlyArray<unknown>) =>
    sql.unsafe<Readonly<Record<string, unknown>>>(isRemote ? numbered(text) : text, values);
  const locked = new Set<unknown>();
  /** Locks the scope before its records, as its deletion does, so that the two make no deadlock. */
  const lockScopeOf = ({ isOfScope }: RecordType, pid: unknown) => {
    if (!isOfScope || !isWrite || !isRemote || locked.has(pid)) return Effect.void;
    locked.add(pid);
    return Effect.asVoid(lockScope(pid as Pid));
  };
  const store = (type: RecordType, text: string, record: object) => {
    assertStorable(Object.values(record).filter(Predicate.isString));
    const stored = run(text, tableFor(type).valuesOf(record));
    const { pid } = record as { readonly pid?: Pid };
    return Effect.andThen(lockScopeOf(type, pid), Effect.asVoid(stored));
  };
  const tx = {
    get: (type: RecordType, ...key: ReadonlyArray<KeyPart>) => {
      const { select, isKey, read } = tableFor(type);
      const found = read(run(`${select} WHERE ${isKey}${isWrite && isRemote ? " FOR UPDATE" : ""}`, key));
      return Effect.map(found, ([one]) => one);
    },

    getAll: (type: RecordType, keys: ReadonlyArray<ReadonlyArray<KeyPart>>) => {
      const { select, isOneOf, read } = tableFor(type);
      return keys.length === 0
        ? Effect.succeed([])
        : read(run(`${select} WHERE ${isOneOf(keys.length)}`, keys.flat()));
    },

    list: (index: RecordIndex, prefix: ReadonlyArray<KeyPart>, options: ListOptions = {}) => {
      const { limit, reverse = false, after } = options;
      const { select, read } = tableFor(index.type);
      const { where, values } = inIndex(index, prefix, after);
      const order = index.fields.map(
        (field) => `${columnOf(index.type, field)}${field.startsWith("-") === reverse ? "" : " DESC"}`,
      );
      const page = limit === undefined ? "" : ` LIMIT ${limit}`;
      return read(run(`${select} WHERE ${where} ORDER BY ${order.join(", ")}${page}`, values));
    },

    count: (
      index: RecordIndex,
      prefix: ReadonlyArray<KeyPart>,
      { after }: Pick<ListOptions, "after"> = {},
    ) => {
      const { where, values } = inIndex(index, prefix, after);
      const counted = run(`SELECT COUNT(*) AS count FROM ${index.type.name} WHERE ${where}`, values);
      return Effect.map(counted, ([row]) => Number(row?.["count"]));
    },

    create: (type: RecordType, record: object) => store(type, tableFor(type).insert, record),
    put: (type: RecordType, record: object) => store(type, tableFor(type).upsert, record),

    remove: (type: RecordType, ...key: ReadonlyArray<KeyPart>) => {
      const { remove, read } = tableFor(type);
      const removed = Effect.map(read(run(remove, key)), ([one]) => one);
      return Effect.andThen(lockScopeOf(type, key[0]), removed);
    },

    journal: (write: WriteContext, action: AuditAction, details: AuditEntry["details"]) =>
      insertEntry(sql, { ...write, action, details }),

    linked: Effect.fnUntraced(function* (pid: Pid, chatIds: ReadonlyArray<ChatId>) {
      const users = JSON.stringify(chatIds);
      if (isWrite && isRemote) {
        yield* sql`SELECT locks FROM ${usersInUse(users)}`;
        yield* lockScope(pid);
      }
      return new Map(
        yield* readLinked(sql`
          SELECT chat_id, game_id, link_version FROM links WHERE pid = ${pid} AND chat_id ${isAmong(users)}
          ORDER BY chat_id ${isWrite ? forUpdate : sql``}`),
      );
    }),
  };
  // The operation turns failures of statements into StoreUnavailable.
  return tx as unknown as Tx;
};

type Run<A> = Effect.Effect<A, Ending> | Effect.fn.Return<A, Ending>;

/** Runs the body of a transaction on a connection. */
export const withTx = <A>(sql: SqlClient.SqlClient, body: TxBody<A>, isWrite = false) =>
  Effect.suspend(() => {
    const made = body(txOn(sql, isWrite)) as Run<A>;
    return Effect.isEffect(made) ? made : Effect.gen(() => made);
  });

const readLinked = tableOf("links", {
  chatId: ChatId,
  gameId: Schema.NullOr(GameId),
  linkVersion: Schema.Int,
}).reader(({ chatId, ...link }) => [chatId, link] as const);

/** Deletes the records of a user, in all scopes or in some, and returns what was erased in which scope. */
export const eraseRecordsOn = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  types: ReadonlyArray<RecordType>,
  chatId: ChatId,
  pids: ReadonlyArray<Pid> | null = null,
) {
  const { isAmong } = dialectOf(sql);
  const erased: Array<ErasedThing> = [];
  for (const { name, isOfScope, columns, ofUser } of types) {
    if (ofUser === null || (pids !== null && !isOfScope)) continue;
    const { either, fields } = ofUser.index;
    const isTheirs = sql.or(
      (either ?? fields.slice(0, 1)).map((field) => sql`${sql(columns[field] as string)} = ${chatId}`),
    );
    const inScopes = pids === null ? sql`1 = 1` : sql`pid ${isAmong(JSON.stringify(pids))}`;
    const removed = sql`DELETE FROM ${sql(name)} WHERE ${inScopes} AND ${isTheirs}`;
    const { erasedAs } = ofUser;
    if (erasedAs === null) yield* removed;
    else
      erased.push(
        ...(yield* readPids(sql`${removed} RETURNING pid`)).map((pid) => ({ pid, what: erasedAs })),
      );
  }
  return erased;
});

const readPids = columnReader("records", "pid", Pid);

export const layer = storeLayer(Records)((shared) => (store) => {
  const parts: StoreParts = { ...shared, ...operationsOf(shared.sql, store) };
  const { sql, operation, transaction, isRemote, onlyOne } = parts;
  const reading = txOn(sql, false);
  const readOf = (name: string) => operation(name, (body: TxBody<unknown>) => body(reading) as Run<unknown>);
  const reads = new Map<string, ReturnType<typeof readOf>>();
  return {
    read: <A>(name: string, body: TxBody<A>) => {
      const read = reads.get(name) ?? readOf(name);
      reads.set(name, read);
      return read(body) as StoreEffect<A>;
    },
    write: (name, queue, body) =>
      transaction(name, function* () {
        if (isRemote) yield* sql`SELECT locks FROM ${onlyOne(queue)}`;
        return yield* withTx(sql, body, true);
      })(),
    keyedWrite: (name, keptOf, body) =>
      keyedWriteOn(parts)(name, keptOf, function* (write) {
        return yield* withTx(sql, (tx) => body(tx, write), true);
      }),
    removeBefore: (name, { type, fields }, before) => {
      const order = fields
        .slice(0, before.length)
        .map((field) => columnOf(type, field))
        .join(", ");
      const condition = sql`(${literalSql(order)}) < (${sql.csv(before.map((value) => sql`${value}`))})`;
      const rows = { table: type.name, primaryKey: keyColumnsOf(type), order, condition };
      return operation(name, () => deleteInBatches(sql, rows))();
    },
  };
});
