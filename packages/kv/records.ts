/** Transactions of stores that are written once, on an engine. */
import type { Pid } from "@accountlink/core";
import { type JournalRecord, logged } from "@accountlink/core/journal";
import { forEachLimited } from "@accountlink/core/limited_loops";
import {
  keyOf,
  type ListOptions,
  type Merging,
  type RecordIndex,
  type RecordType,
  type Tx,
} from "@accountlink/core/records";
import { assertStorable } from "@accountlink/core/storable_text";
import { Array as Arr, Effect, Predicate, Struct } from "effect";
import type { Database } from "./database.ts";
import type { Bounds, Tuple } from "./keys.ts";
import { entriesOf, hasEpoch, indexOfAccount, kvIndex, kvTable, type OfAccount } from "./record_tables.ts";
import { itemsOf, shortListsAtOnce } from "./steps.ts";
import { countEvents } from "./stores/event_store.ts";
import { accountPlace, record as addRecord } from "./stores/journal.ts";
import { knownAccounts } from "./stores/known_accounts.ts";
import { findRecordsIn } from "./stores/links.ts";
import {
  accountNamed,
  accounts,
  currentOf,
  epochOf,
  knownScopes,
  type OfEpoch,
  scopeAt,
  scopeKey,
} from "./stores/scopes.ts";
import { keyOf as keyIn, type Table } from "./table.ts";
import type { Transaction } from "./transaction.ts";

/** Values of an index as its entries have them, from the place `from` on. */
const valuesIn = ({ either, fields }: RecordIndex, values: Tuple, from = 0): Tuple => {
  const first = from - (either === undefined ? 0 : 1);
  return values.map((value, at) => (fields[first + at]?.startsWith("-") === true ? -Number(value) : value));
};

/** The bounds of an index behind a prefix, as its entries have them. */
const boundsOf = (index: RecordIndex, prefix: Tuple, { before, after }: ListOptions = {}): Bounds => ({
  ...(before !== undefined && { before: valuesIn(index, before, prefix.length) }),
  ...(after !== undefined && { after: valuesIn(index, after, prefix.length) }),
});

export const tableFor = <R extends object>(type: RecordType<R>): Table<R> => kvTable(type);

export const shown = <R extends object>({ isOfScope, isOfAccount }: RecordType, stored: R): R => {
  if (!isOfScope && !isOfAccount) return stored;
  const { epoch: _, ...record } = stored as R & OfEpoch;
  return (isOfAccount ? Struct.omit(record as R & OfAccount, ["account"]) : record) as R;
};

/** Transactions of stores that are written once, within a transaction of the engine. */
export const txOf = (tx: Transaction): Tx => {
  /** The accounts of scopes of records that were read, so that scopes and accounts can be read at once. */
  const owners = new Map<Pid, number>();
  const kept = <R extends object>(type: RecordType<R>, stored: ReadonlyArray<R | undefined>) => {
    const found = stored.filter((each) => each !== undefined) as ReadonlyArray<R & OfEpoch>;
    if (type.isOfAccount) {
      for (const { pid, account } of found as ReadonlyArray<R & OfEpoch & OfAccount>)
        owners.set(pid, account);
    }
    const current = type.isOfScope ? currentOf(tx, found) : Effect.succeed(found);
    return Effect.map(current, (all) => all.map((each): R => shown(type, each)));
  };
  const get = <R extends object>(type: RecordType<R>, ...key: Tuple) =>
    Effect.flatMap(tx.get(tableFor(type), ...key), (stored) =>
      Effect.map(kept(type, [stored]), ([found]) => found),
    );
  const storedOf = Effect.fnUntraced(function* <R extends object>(type: RecordType<R>, record: R) {
    assertStorable(Object.values(record).filter(Predicate.isString));
    const { pid = null } = record as { readonly pid?: Pid | null };
    const scope = pid === null ? undefined : yield* scopeAt(tx, pid);
    return {
      ...record,
      ...(type.isOfScope && { epoch: scope?.epoch }),
      ...(type.isOfAccount && { account: scope?.account }),
    };
  });
  const claim = Effect.fnUntraced(function* <R extends object>(type: RecordType<R>, record: R) {
    const stored = yield* storedOf(type, record);
    for (const index of Object.values<RecordIndex<R>>(type.indexes)) {
      for (const entry of index.isUnique === true ? kvIndex(index).keys(stored) : []) {
        const others = yield* tx.list(kvIndex(index), entry.slice(0, index.group), { limit: 1 });
        if (others.length > 0) return false;
      }
    }
    return yield* tx.create(tableFor(type), stored);
  });
  const put = <R extends object>(type: RecordType<R>, record: R) =>
    Effect.flatMap(storedOf(type, record), (stored) => tx.put(tableFor(type), stored));
  const mergeAll = Effect.fnUntraced(function* <R extends object>(
    type: RecordType<R>,
    records: ReadonlyArray<R>,
    merging?: Merging<keyof R & string>,
  ) {
    yield* tx.getAll(tableFor(type), records, (record) => keyOf(type, record));
    for (const record of records) {
      const before = merging && (yield* get(type, ...keyOf(type, record)));
      const { sums = [], kept: fields = [], latest } = (before && merging) ?? {};
      if (latest !== undefined && (before as R)[latest] > record[latest]) continue;
      const added = sums.map((field) => [field, Number(record[field]) + Number(before?.[field])]);
      const left = before && Struct.pick(before, fields);
      yield* put(type, { ...record, ...left, ...Object.fromEntries(added) });
    }
  });
  const remove = Effect.fnUntraced(function* <R extends object>(type: RecordType<R>, ...key: Tuple) {
    const found = yield* get(type, ...key);
    if (found !== undefined) yield* tx.remove(tableFor(type), ...key);
    return found;
  });
  const getAll = <R extends object>(type: RecordType<R>, keys: ReadonlyArray<Tuple>) =>
    Effect.flatMap(
      tx.getAll(tableFor(type), keys, (key) => key),
      (found) => kept(type, found),
    );
  const list = Effect.fnUntraced(function* <R extends object>(
    index: RecordIndex<R>,
    prefix: Tuple,
    options: ListOptions = {},
  ) {
    const { type } = index;
    const { limit = Infinity, reverse } = options;
    const place = yield* placed(index, prefix);
    const records: Array<R> = [];
    for (let range = { ...options, limit, ...boundsOf(index, prefix, options) }; ; ) {
      const found = yield* index === type.byKey
        ? tx.scan(tableFor(type), place, range)
        : tx.list(kvIndex(index), place, range);
      for (const record of yield* kept(type, found)) records.push(record);
      const last = found.at(-1);
      if (last === undefined || found.length < range.limit || records.length === limit) return records;
      // Some were of earlier epochs.
      const entries = index === type.byKey ? [keyOf(type, last)] : entriesOf(index, last);
      const entry = entries.find((each) => place.every((part, at) => part === each[at]));
      const rest = entry?.slice(place.length) ?? [];
      range = { ...range, limit: limit - records.length, [reverse === true ? "before" : "after"]: rest };
    }
  });
  const lists = <R extends object>(
    index: RecordIndex<R>,
    prefixes: ReadonlyArray<Tuple>,
    options?: ListOptions,
  ) => forEachLimited(prefixes, shortListsAtOnce, (prefix) => list(index, prefix, options));
  const placed = Effect.fnUntraced(function* (index: RecordIndex, values: Tuple) {
    const prefix = valuesIn(index, values);
    const [first, ...rest] = prefix;
    return first !== undefined && hasEpoch(index) && index !== index.type.byKey
      ? [first, yield* epochOf(tx, first as OfEpoch["pid"]), ...rest]
      : prefix;
  });
  return {
    atOnce: { concurrency: "unbounded" },
    get,
    getAll,
    list,
    listAll: (index, prefixes, options) => Effect.map(lists(index, prefixes, options), Arr.flatten),
    firsts: (index, prefixes) =>
      Effect.map(lists(index, prefixes, { limit: 1 }), (found) => found.map(([first]) => first)),
    ofAccount: Effect.fnUntraced(function* (type, name, limit = Infinity) {
      const account = yield* accountNamed(tx, name);
      return account === undefined
        ? []
        : yield* kept(type, yield* tx.list(indexOfAccount(type), [account.id], { limit }));
    }),
    count: (index, prefix, options) =>
      Effect.flatMap(placed(index, prefix), (place) =>
        tx.count(kvIndex(index), place, boundsOf(index, prefix, options)),
      ),
    create: Effect.fnUntraced(function* (type, record) {
      if (!(yield* claim(type, record))) {
        throw new Error(`Cannot store a record of "${type.name}": its key is taken, expected a new one`);
      }
    }),
    claim,
    put,
    putAll: mergeAll,
    mergeAll,
    remove,
    removeAll: Effect.fnUntraced(function* (type, keys) {
      const found = yield* getAll(type, keys);
      for (const record of found) yield* remove(type, ...keyOf(type, record));
      return found;
    }),
    removeOf: Effect.fnUntraced(function* <R extends object>(
      index: RecordIndex<R>,
      prefixes: ReadonlyArray<Tuple>,
    ) {
      const removed: Array<R> = [];
      for (const prefix of prefixes) {
        const limit = recordsOfStep(tx) - removed.length;
        for (const found of limit === 0 ? [] : yield* list(index, prefix, { limit })) {
          yield* remove(index.type, ...keyOf(index.type, found));
          removed.push(found);
        }
      }
      return removed;
    }),
    journal: (write, action, details) => {
      const place = write.pid ?? accountPlace(write.account);
      return addRecord(tx, place, logged(write, action, details));
    },
    tell: (pid, told) => addRecord(tx, pid, ...(told as ReadonlyArray<JournalRecord>)),
    linked: (pid, chatIds) => findRecordsIn(tx, pid, chatIds),
    ...knownAccounts(tx),
    scopes: (pids) => {
      const keys = pids.flatMap((pid) => {
        const account = owners.get(pid);
        return account === undefined ? [] : [scopeKey(pid), keyIn(accounts, [account])];
      });
      return Effect.andThen(tx.prefetch(keys), knownScopes(tx, pids));
    },
    countEvents: (...search) => countEvents(tx, ...search),
  };
};

/** The records of a step, or of a write. A record may have two dozen entries and guards. */
export const recordsOfStep = (db: Pick<Database, "most">): number => itemsOf(db, 25, { limit: 20 });
