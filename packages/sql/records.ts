/** Records of stores that are written once, on tables of SQL. */
import { ChatId, GameId, Pid } from "@accountlink/core";
import type { AuditAction, AuditEntry, WriteContext } from "@accountlink/core/audit";
import type { StoreEffect } from "@accountlink/core/errors";
import { type JournalRecord, logged } from "@accountlink/core/journal";
import {
  type AccountWrite,
  type CountOptions,
  type Journaled,
  type KeyPart,
  type ListOptions,
  type Merging,
  type RecordIndex,
  Records,
  type RecordType,
  type Tx,
  type TxBody,
} from "@accountlink/core/records";
import { assertStorable } from "@accountlink/core/storable_text";
import { Array as Arr, Effect, Function, Predicate, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { batchedList } from "./batched_list.ts";
import { holdOn } from "./held_records.ts";
import { countEventsOn } from "./journal/event_store.ts";
import { accountPlace, insertRecord, insertRecords } from "./journal/records.ts";
import { batchedScopes, knownAccountsOn } from "./keys/known_accounts.ts";
import { linkStatements } from "./links/link_statements.ts";
import {
  columnOf,
  isOnly,
  keyColumnsOf,
  limitOf,
  listIn,
  pageOf,
  placeIn,
  placeInElement,
  runOn,
  tableFor,
} from "./record_table.ts";
import { dialectOf } from "./statements/dialect.ts";
import { batchSize, deleteInBatches, inBatches } from "./statements/in_batches.ts";
import { keyedWriteOn } from "./statements/keyed_write.ts";
import { firstLiveNode } from "./statements/leases.ts";
import { literalSql, tableOf } from "./statements/row.ts";
import { type Ending, operationsOf, type StoreParts, storeLayer } from "./statements/store_operation.ts";

/** The most keys of a statement: SQLite takes 32,766 parameters. */
const mostKeys = 5_000;

/** Transactions of stores that are written once, on a connection. */
const txOn = (sql: SqlClient.SqlClient, isWrite: boolean): Tx => {
  const { forUpdate, isRemote, isAmong, usersInUse } = dialectOf(sql);
  const { lockScope } = linkStatements(sql);
  const isLocking = isWrite && isRemote;
  const runText = runOn(sql);
  const run = (text: string, values: ReadonlyArray<unknown>) => {
    assertStorable(values.filter(Predicate.isString));
    return runText(text, values);
  };
  const locked = new Set<unknown>();
  /** Locks the scope before its records, as its deletion does, so that the two make no deadlock. */
  const lockScopeOf = ({ isOfScope }: RecordType, pid: unknown) => {
    if (!isOfScope || !isLocking || locked.has(pid)) return Effect.void;
    locked.add(pid);
    return Effect.asVoid(lockScope(pid as Pid));
  };
  const store = (type: RecordType, text: string, ...records: ReadonlyArray<object>) => {
    const stored = run(text, records.flatMap(tableFor(type).valuesOf));
    const [{ pid } = {}] = records as ReadonlyArray<{ readonly pid?: Pid }>;
    return Effect.andThen(lockScopeOf(type, pid), stored);
  };
  const list = (
    index: RecordIndex,
    prefix: ReadonlyArray<KeyPart>,
    options: ListOptions = {},
    first?: ReadonlyArray<string>,
  ) => {
    const { text, values } = listIn(index, prefix, options, first, !isRemote);
    return tableFor(index.type).read(run(text, values));
  };
  const listAll = (
    index: RecordIndex,
    prefixes: ReadonlyArray<ReadonlyArray<string>>,
    options: ListOptions = {},
    first?: ReadonlyArray<string>,
  ) => {
    const { list: columns, read } = tableFor(index.type);
    if (!isRemote) {
      const lists = Effect.forEach(prefixes, (prefix) => list(index, prefix, options, first));
      return Effect.map(lists, Arr.flatten);
    }
    const { isBehind, values } = placeInElement(index, prefixes, options, first);
    const text = `
      SELECT ${columns} FROM json_array_elements(?::json) AS element (value)
      CROSS JOIN LATERAL (SELECT * FROM ${index.type.name} WHERE ${isBehind} ${pageOf(index, options)}) AS found`;
    return read(run(text, [JSON.stringify(prefixes), ...values]));
  };
  const getAll = (type: RecordType, keys: ReadonlyArray<ReadonlyArray<KeyPart>>) => {
    const { select, isOneOf, keyColumns, read } = tableFor(type);
    // Writes lock rows in the order of their keys, so that two of them cannot deadlock.
    const lock = isLocking ? ` ORDER BY ${keyColumns.join(", ")} FOR UPDATE` : "";
    if (keys.length === 0) return Effect.succeed([]);
    const parts = isLocking ? [keys] : Arr.chunksOf(keys, mostKeys);
    const found = Effect.forEach(parts, (part) =>
      read(run(`${select} WHERE ${isOneOf(part.length)}${lock}`, part.flat())),
    );
    return Effect.andThen(lockScopeOf(type, keys[0]?.[0]), Effect.map(found, Arr.flatten));
  };
  /**
   * Returns the first record behind each prefix on SQLite, which has no LATERAL. Most prefixes have none, so one statement
   * finds the keys of all, and another one reads the records.
   */
  const firstBehindEach = Effect.fnUntraced(function* (
    index: RecordIndex,
    prefixes: ReadonlyArray<ReadonlyArray<string>>,
    first: ReadonlyArray<string>,
  ) {
    const key = tableFor(index.type).keyColumns.join(", ");
    const { isBehind } = placeInElement(index, prefixes, {}, first);
    const found = yield* runText<{ readonly key: string | null }>(
      `SELECT (SELECT json_array(${key}) FROM ${index.type.name} WHERE ${isBehind} ${pageOf(index, { limit: 1 })}) AS key
      FROM json_each(?)`,
      [JSON.stringify(prefixes)],
    );
    const keys = found.flatMap(
      (row): ReadonlyArray<ReadonlyArray<KeyPart>> => (row.key === null ? [] : [JSON.parse(row.key)]),
    );
    return yield* getAll(index.type, keys);
  });
  const putAll = (type: RecordType, records: ReadonlyArray<object>, merging?: Merging) =>
    Effect.forEach(
      Arr.chunksOf(records, batchSize),
      (some) => store(type, tableFor(type).upsertAll(some.length, merging), ...some),
      { discard: true },
    );
  const tx = {
    // One connection answers them one by one, and locks rows in their order.
    atOnce: { concurrency: 1 },

    get: (type: RecordType, ...key: ReadonlyArray<KeyPart>) => {
      const { select, isKey, read } = tableFor(type);
      const found = read(run(`${select} WHERE ${isKey}${isLocking ? " FOR UPDATE" : ""}`, key));
      return Effect.andThen(
        lockScopeOf(type, key[0]),
        Effect.map(found, ([one]) => one),
      );
    },

    getAll,
    list,
    listAll,

    firsts: Effect.fnUntraced(function* (index: RecordIndex, prefixes: ReadonlyArray<ReadonlyArray<string>>) {
      const found = new Map<string, object>();
      const named = index.either === undefined ? [[]] : index.either.map((field) => [field]);
      for (const first of prefixes.length === 0 ? [] : named) {
        for (const record of yield* isRemote
          ? listAll(index, prefixes, { limit: 1 }, first)
          : firstBehindEach(index, prefixes, first)) {
          const place = placeOf(record, [...first, ...index.fields].slice(0, prefixes[0]?.length));
          const other = found.get(place);
          if (other === undefined || isBefore(index, record, other)) found.set(place, record);
        }
      }
      return prefixes.map((prefix) => found.get(JSON.stringify(prefix)));
    }),

    ofAccount: (type: RecordType, account: string, limit?: number) => {
      const { select, keyColumns, read } = tableFor(type);
      const scopes = "SELECT pid FROM scopes WHERE account = ?";
      const ofScopes = isRemote ? `= ANY (ARRAY (${scopes}))` : `IN (${scopes})`;
      const found = `${select} WHERE pid ${ofScopes}`;
      // For the first of a sorted list, Postgres would rather walk through the records of all accounts in this order.
      const own = isRemote && limit !== undefined ? `SELECT * FROM (${found} OFFSET 0) AS own` : found;
      return read(run(`${own} ORDER BY ${keyColumns.join(", ")}${limitOf(limit)}`, [account]));
    },

    count: (index: RecordIndex, prefix: ReadonlyArray<KeyPart>, { most, ...bounds }: CountOptions = {}) => {
      const { where, values } = placeIn(index, prefix, bounds);
      const found = `SELECT 1 FROM ${index.type.name} WHERE ${where}${limitOf(most)}`;
      const counted = run(`SELECT COUNT(*) AS count FROM (${found}) AS found`, values);
      return Effect.map(counted, ([row]) => Number(row?.["count"]));
    },

    create: (type: RecordType, record: object) => Effect.asVoid(store(type, tableFor(type).insert, record)),
    claim: (type: RecordType, record: object) =>
      Effect.map(store(type, tableFor(type).insertFree, record), (rows) => rows.length > 0),
    put: (type: RecordType, record: object) => Effect.asVoid(store(type, tableFor(type).upsert, record)),

    putAll,
    mergeAll: putAll,

    removeAll: (type: RecordType, keys: ReadonlyArray<ReadonlyArray<KeyPart>>) => {
      const { removeAll, read } = tableFor(type);
      if (keys.length === 0) return Effect.succeed([]);
      const removed = read(run(removeAll(keys.length), keys.flat()));
      return Effect.andThen(lockScopeOf(type, keys[0]?.[0]), removed);
    },

    remove: (type: RecordType, ...key: ReadonlyArray<KeyPart>) => {
      const { remove, read } = tableFor(type);
      const removed = Effect.map(read(run(remove, key)), ([one]) => one);
      return Effect.andThen(lockScopeOf(type, key[0]), removed);
    },

    removeOf: ({ type, fields }: RecordIndex, prefixes: ReadonlyArray<ReadonlyArray<string>>) => {
      const { removeAll, read } = tableFor(type);
      const behind = fields.slice(0, prefixes[0]?.length);
      return prefixes.length === 0
        ? Effect.succeed([])
        : read(run(removeAll(prefixes.length, behind), prefixes.flat()));
    },

    journal: (write: WriteContext | AccountWrite, action: AuditAction, details: AuditEntry["details"]) => {
      const place = write.pid ?? accountPlace(write.account as string);
      return insertRecord(sql, place, logged(write, action, details));
    },

    tell: (pid: Pid, told: ReadonlyArray<Journaled>) =>
      insertRecords(sql, pid, told as ReadonlyArray<JournalRecord>),

    linked: Effect.fnUntraced(function* (pid: Pid, chatIds: ReadonlyArray<ChatId>) {
      if (isLocking) {
        yield* sql`SELECT locks FROM ${usersInUse(chatIds)}`;
        yield* lockScope(pid);
      }
      return new Map(
        yield* readLinked(sql`
          SELECT chat_id, game_id, link_version FROM links WHERE pid = ${pid} AND chat_id ${isAmong(chatIds)}
          ORDER BY chat_id ${isWrite ? forUpdate : sql``}`),
      );
    }),

    countEvents: countEventsOn(sql),
    ...knownAccountsOn(sql, isWrite),
  };
  // The operation turns failures of statements into StoreUnavailable.
  return tx as unknown as Tx;
};

const placeOf = (record: object, fields: ReadonlyArray<string>): string =>
  JSON.stringify(fields.map((field) => (record as Readonly<Record<string, KeyPart>>)[field]));

/** Whether a record precedes another in an index. */
const isBefore = ({ fields }: RecordIndex, one: object, other: object): boolean => {
  type Values = Readonly<Record<string, KeyPart>>;
  for (const field of fields) {
    const name = field.replace("-", "");
    const [left, right] = [(one as Values)[name], (other as Values)[name]] as [KeyPart, KeyPart];
    if (left !== right) return left < right === (name === field);
  }
  return false;
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

/** @param own the operations that have statements of their own, by store */
export const layer = (own: Readonly<Record<string, (parts: StoreParts) => object>>) =>
  storeLayer(Records)((shared) => (store) => {
    const parts: StoreParts = { ...shared, ...operationsOf(shared.sql, store) };
    const { sql, operation, transaction, isRemote, onlyOne } = parts;
    const lockQueue = (queue: string | ReadonlyArray<string>) =>
      Effect.forEach(isRemote ? [queue].flat() : [], (name) => sql`SELECT locks FROM ${onlyOne(name)}`);
    const alone = txOn(sql, false);
    const batchOf = Function.memoize((index: RecordIndex) => batchedList(parts, index));
    const reading: Tx = {
      ...alone,
      ...(isRemote && { scopes: batchedScopes(parts) as unknown as Tx["scopes"] }),
      list: (index, prefix, options) => {
        if (!isRemote || index.isBatched !== true) return alone.list(index, prefix, options);
        return batchOf(index)(String(prefix[0])) as unknown as StoreEffect<never>;
      },
    };
    const readOf = (name: string) =>
      operation(name, (body: TxBody<unknown>) => body(reading) as Run<unknown>);
    const reads = new Map<string, ReturnType<typeof readOf>>();
    return {
      read: <A>(name: string, body: TxBody<A>) => {
        const read = reads.get(name) ?? readOf(name);
        reads.set(name, read);
        return read(body) as StoreEffect<A>;
      },
      write: (name, queue, body) =>
        transaction(name, function* () {
          yield* lockQueue(queue);
          return yield* withTx(sql, body, true);
        })(),
      keyedWrite: (name, keptOf, _, body) =>
        keyedWriteOn(parts)(name, keptOf, function* (write) {
          return yield* withTx(sql, (tx) => body(tx, write), true);
        }),
      removeBefore: (name, { type, fields, only }, before) => {
        const order = fields
          .slice(0, before.length)
          .map((field) => columnOf(type, field))
          .join(", ");
        const isMeant = literalSql(only === undefined ? "1 = 1" : isOnly(type, only));
        const condition = sql`(${literalSql(order)}) < (${sql.csv(before.map((value) => sql`${value}`))}) AND ${isMeant}`;
        const rows = { table: type.name, primaryKey: keyColumnsOf(type), order, condition };
        return operation(name, () => deleteInBatches(sql, rows))();
      },
      inSteps: (name, queue, find, change) => {
        const step = Effect.gen(function* () {
          yield* lockQueue(queue);
          return yield* withTx(
            sql,
            (tx) => Effect.flatMap(find(tx, batchSize), (found) => change(tx, found)),
            true,
          );
        });
        return operation(name, () => inBatches(sql.withTransaction(step)))();
      },
      hold: holdOn(parts, reading),
      firstNode: (name, { held }, prefix, at) =>
        operation(name, () => Effect.map(firstLiveNode(sql, held?.nodes ?? "", prefix, at), Arr.head))(),
      mostWritten: Number.MAX_SAFE_INTEGER,
      own: own[store]?.(parts) ?? {},
    };
  });
