/** Records of stores that are written once, on an engine. */
import { logged } from "@accountlink/core/journal";
import {
  type KeyPart,
  type ListOptions,
  type RecordIndex,
  type RecordOf,
  Records,
  type RecordType,
  type Tx,
  type TxBody,
} from "@accountlink/core/records";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect, Predicate } from "effect";
import { encode, type Tuple } from "./keys.ts";
import { removeInSteps } from "./steps.ts";
import { keyedWrite } from "./stores/idempotency_store.ts";
import { record as addRecord } from "./stores/journal.ts";
import { links } from "./stores/links.ts";
import { epochOf, isCurrent, type OfEpoch, scopeAt } from "./stores/scopes.ts";
import { storeLayer } from "./stores/store_layer.ts";
import { type Index, type IndexOptions, type Table, table } from "./table.ts";
import type { Transaction } from "./transaction.ts";

type Values = Readonly<Record<string, KeyPart | null>>;

const valuesOf = (record: object, fields: ReadonlyArray<string>) =>
  fields.map((field) =>
    field.startsWith("-") ? -Number((record as Values)[field.slice(1)]) : (record as Values)[field],
  );

/** Whether the entries of an index have the epoch of the scope after its `pid`. */
const hasEpoch = ({ type, either, fields: [first] }: RecordIndex): boolean =>
  type.isOfScope && either === undefined && first === "pid";

const entriesOf = (index: RecordIndex, record: object): ReadonlyArray<Tuple> => {
  const values = valuesOf(record, index.fields);
  if (values.includes(null)) return [];
  if (hasEpoch(index)) values.splice(1, 0, (record as OfEpoch).epoch);
  const firsts = index.either === undefined ? [[]] : valuesOf(record, index.either).map((value) => [value]);
  return firsts.map((first) => [...first, ...values] as Tuple);
};

type TableOf<T extends RecordType> = Table<RecordOf<T>> & {
  readonly [Name in keyof T as T[Name] extends RecordIndex ? Name : never]: Index<RecordOf<T>>;
};

const known = new WeakMap<RecordType, unknown>();

/** The table of a type of records. A record that a deletion of its scope deletes has the epoch of the scope besides. */
export const kvTable = <T extends RecordType>(type: T): TableOf<T> => {
  const found = known.get(type) as TableOf<T> | undefined;
  if (found !== undefined) return found;
  const indexes: Record<string, IndexOptions<RecordOf<T>>> = {};
  for (const index of Object.values(type.indexes)) {
    const { name, group } = index;
    indexes[name] = { keys: (record) => entriesOf(index, record), ...(group !== undefined && { group }) };
  }
  const made = table<RecordOf<T>>()(type.name, (record) => valuesOf(record, type.key) as Tuple, indexes);
  known.set(type, made);
  return made as unknown as TableOf<T>;
};

export const kvIndex = <R extends object>({ name, type }: RecordIndex<R>) =>
  (kvTable(type) as unknown as Readonly<Record<string, Index<R>>>)[name] as Index<R>;

/** The index of the records of a scope, by their epochs. */
export const indexOfScope = ({ indexes }: RecordType): Index<OfEpoch> =>
  kvIndex(Object.values(indexes).find(hasEpoch) as RecordIndex<OfEpoch>);

const tableFor = <R extends object>(type: RecordType<R>): Table<R> => kvTable(type);

const shown = <R extends object>({ isOfScope }: RecordType, stored: R): R => {
  if (!isOfScope) return stored;
  const { epoch: _, ...record } = stored as R & OfEpoch;
  return record as R;
};

/** The values of an index behind a prefix, as its entries have them. */
const boundsOf = (
  { fields }: RecordIndex,
  prefix: Tuple,
  { after }: Pick<ListOptions, "after"> = {},
): Pick<ListOptions, "after"> =>
  after === undefined
    ? {}
    : {
        after: after.map((value, at) => (isDescending(fields[prefix.length + at]) ? -Number(value) : value)),
      };

const isDescending = (field: string | undefined): boolean => field?.startsWith("-") === true;

/** Transactions of stores that are written once, within a transaction of the engine. */
export const txOf = (tx: Transaction): Tx => {
  const isKept = ({ isOfScope }: RecordType, stored: object) =>
    isOfScope ? isCurrent(tx, stored as OfEpoch) : Effect.succeed(true);
  const kept = Effect.fnUntraced(function* <R extends object>(
    type: RecordType<R>,
    stored: ReadonlyArray<R | undefined>,
  ) {
    const found = stored.filter((each) => each !== undefined);
    return (yield* Effect.filter(found, (each) => isKept(type, each))).map((each) => shown(type, each));
  });
  const get = <R extends object>(type: RecordType<R>, ...key: Tuple) =>
    Effect.flatMap(tx.get(tableFor(type), ...key), (stored) =>
      Effect.map(kept(type, [stored]), ([found]) => found),
    );
  const put = Effect.fnUntraced(function* <R extends object>(type: RecordType<R>, record: R) {
    assertStorable(Object.values(record).filter(Predicate.isString));
    const scope = "pid" in type.fields ? yield* scopeAt(tx, (record as OfEpoch).pid) : undefined;
    yield* tx.put(tableFor(type), type.isOfScope ? { ...record, epoch: scope?.epoch } : record);
  });
  const placed = Effect.fnUntraced(function* (index: RecordIndex, values: Tuple) {
    const before = index.either === undefined ? 0 : 1;
    const prefix = values.map((value, at) =>
      isDescending(index.fields[at - before]) ? -Number(value) : value,
    );
    const [first, ...rest] = prefix;
    return first !== undefined && hasEpoch(index)
      ? [first, yield* epochOf(tx, first as OfEpoch["pid"]), ...rest]
      : prefix;
  });
  return {
    get,
    getAll: (type, keys) =>
      Effect.flatMap(
        tx.getAll(tableFor(type), keys, (key) => key),
        (found) => kept(type, found),
      ),
    list: Effect.fnUntraced(function* (index, prefix, options) {
      const bounds = boundsOf(index, prefix, options);
      const found = yield* tx.list(kvIndex(index), yield* placed(index, prefix), { ...options, ...bounds });
      return yield* kept(index.type, found);
    }),
    count: (index, prefix, options) =>
      Effect.flatMap(placed(index, prefix), (place) =>
        tx.count(kvIndex(index), place, boundsOf(index, prefix, options)),
      ),
    create: (type, record) =>
      Effect.flatMap(tx.get(tableFor(type), ...tableFor(type).id(record)), (found) =>
        found === undefined
          ? put(type, record)
          : Effect.die(
              new Error(`Cannot store a record of "${type.name}": its key is taken, expected a new one`),
            ),
      ),
    put,
    remove: Effect.fnUntraced(function* (type, ...key) {
      const found = yield* get(type, ...key);
      if (found !== undefined) yield* tx.remove(tableFor(type), ...key);
      return found;
    }),
    journal: (write, action, details) => addRecord(tx, write.pid, logged(write, action, details)),
    linked: Effect.fnUntraced(function* (pid, chatIds) {
      const epoch = yield* epochOf(tx, pid);
      const found = yield* tx.getAll(links, chatIds, (chatId) => [pid, chatId]);
      return new Map(
        found.flatMap((each) => (each?.epoch === epoch ? [[each.link.chatId, each.link] as const] : [])),
      );
    }),
  };
};

const bodyOn =
  <A>(body: TxBody<A>) =>
  (tx: Transaction) =>
    body(txOf(tx));

export const layer = storeLayer(Records, (db) => () => ({
  read: (_, body) => db.read(bodyOn(body)),
  write: (_, queue, body) => db.write(queue, bodyOn(body)),
  keyedWrite: (_, keptOf, body) =>
    keyedWrite(
      db,
      keptOf,
      ({ pid }) => pid,
      (tx, write) => body(txOf(tx), write),
    ),
  removeBefore: (_, index, before) => {
    const own = kvIndex(index);
    const end = encode(before);
    return removeInSteps(db, own, [], { before }, (stored) =>
      own.keys(stored).every((entry) => encode(entry) < end),
    );
  },
}));
