/** Records of one kind, found by their id and by indexes, which `put` and `remove` keep. */
import type { StoreUnavailable } from "@accountlink/core";
import { assertStorable } from "@accountlink/core/storable_text";
import { Effect } from "effect";
import { afterPrefix, type KeyPart, type KeyParts, keyText } from "./key.ts";
import type { Transaction } from "./transaction.ts";

/** An index: the keys of a record in it. The id follows each key, so it orders equal ones. */
type IndexKeys<V> = (value: V) => ReadonlyArray<KeyParts>;

interface Definition<V, Id extends Array<KeyPart>, Index extends string> {
  readonly id: (value: V) => Id;
  /** For records with texts of others, which need not be storable: in JSON they are. */
  readonly holdsAnyText?: true;
  readonly indexes?: Readonly<Record<Index, IndexKeys<V>>>;
}

/** Which of the listed records to return. */
interface Page {
  /** The parts after which to start. */
  readonly after?: KeyParts;
  readonly limit?: number;
}

type Read<A> = Effect.Effect<A, StoreUnavailable>;

export interface Collection<V, Id extends Array<KeyPart>, Index extends string> {
  readonly find: (tx: Transaction, ...id: Id) => Read<V | undefined>;
  /** Those of the records that exist. */
  readonly findAll: (tx: Transaction, ids: ReadonlyArray<Id>) => Read<ReadonlyArray<V>>;
  /** The records whose id begins with the parts, by id. */
  readonly scan: (tx: Transaction, parts: KeyParts, page?: Page) => Read<ReadonlyArray<V>>;
  /** The records whose key in an index begins with the parts, by that key. */
  readonly list: (tx: Transaction, index: Index, parts: KeyParts, page?: Page) => Read<ReadonlyArray<V>>;
  /** Inserts a record whose id is new. */
  readonly add: (tx: Transaction, value: V) => Read<void>;
  /** Inserts or replaces a record. */
  readonly put: (tx: Transaction, value: V) => Read<void>;
  /** Deletes a record, if it exists. */
  readonly remove: (tx: Transaction, ...id: Id) => Read<void>;
  /** `remove` for a record that was read. */
  readonly discard: (tx: Transaction, value: V) => Read<void>;
}

export const collection = <V, Id extends Array<KeyPart> = Array<KeyPart>, Index extends string = never>(
  name: string,
  { id, indexes, holdsAnyText }: Definition<V, Id, Index>,
): Collection<V, Id, Index> => {
  const all = Object.entries<IndexKeys<V>>(indexes ?? {});
  const indexName = (index: string) => `${name}-${index}`;
  const keysIn = (value: V): ReadonlyArray<string> =>
    all.flatMap(([index, keys]) =>
      keys(value).map((parts) => keyText(indexName(index), [...parts, ...id(value)])),
    );

  const findAt = Effect.fnUntraced(function* (tx: Transaction, keys: ReadonlyArray<string>) {
    const texts = keys.length === 0 ? [] : yield* tx.getAll(keys);
    return texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as V]));
  });

  const find = (tx: Transaction, ...parts: Id) =>
    Effect.map(findAt(tx, [keyText(name, parts)]), ([value]) => value);

  const remove = Effect.fnUntraced(function* (tx: Transaction, ...parts: Id) {
    const before = yield* find(tx, ...parts);
    if (before === undefined) return;
    for (const old of keysIn(before)) tx.delete(old);
    tx.delete(keyText(name, parts));
  });

  const set = (tx: Transaction, value: V): void => {
    const key = keyText(name, id(value));
    for (const each of keysIn(value)) tx.set(each, key);
    tx.set(key, JSON.stringify(value, holdsAnyText ? undefined : storable));
  };

  return {
    find,
    remove,
    discard: (tx, value) => remove(tx, ...id(value)),
    findAll: (tx, ids) =>
      findAt(
        tx,
        ids.map((parts) => keyText(name, parts)),
      ),

    scan: (tx, parts, { after, limit = Infinity } = {}) => {
      const prefix = keyText(name, parts);
      const start = after === undefined ? `${prefix}/` : keyText(name, after);
      return Effect.map(tx.list(start, afterPrefix(prefix), limit), (entries) =>
        entries.map(([, text]) => JSON.parse(text) as V),
      );
    },

    list: (tx, index, parts, { after, limit = Infinity } = {}) => {
      const prefix = keyText(indexName(index), parts);
      const start = after === undefined ? `${prefix}/` : afterPrefix(keyText(indexName(index), after));
      return Effect.flatMap(tx.list(start, afterPrefix(prefix), limit), (entries) =>
        findAt(
          tx,
          entries.map(([, key]) => key),
        ),
      );
    },

    add: (tx, value) => Effect.sync(() => set(tx, value)),

    put: Effect.fnUntraced(function* (tx, value) {
      const before = yield* find(tx, ...id(value));
      const keys = keysIn(value);
      for (const old of before === undefined ? [] : keysIn(before)) if (!keys.includes(old)) tx.delete(old);
      set(tx, value);
    }),
  };
};

const storable = (_: string, value: unknown): unknown => {
  if (typeof value === "string") assertStorable([value]);
  return value;
};
