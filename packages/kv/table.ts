/** A table of records: the key of a record, and the indexes by which records are found. */
import { encode, type Tuple } from "./keys.ts";

/**
 * An index has any number of entries for a record, none of which another record has. `group` is the number of the leading parts by which a transaction
 * reads it: each change of a record changes the guards of its groups, and a read in a transaction checks the guard of
 * its group. Without a group, only reads outside of transactions use the index.
 */
export interface IndexOptions<R> {
  readonly keys: (record: R) => ReadonlyArray<Tuple>;
  readonly group?: number;
}

export interface Index<R> extends IndexOptions<R> {
  readonly name: string;
  readonly table: Table<R>;
}

export interface Table<R> {
  readonly name: string;
  readonly id: (record: R) => Tuple;
  readonly group: number | undefined;
  readonly indexes: ReadonlyArray<Index<R>>;
}

/** Makes a table whose indexes are its properties. */
export const table =
  <R>() =>
  <Names extends string>(
    name: string,
    id: (record: R) => Tuple,
    indexes: Readonly<Record<Names, IndexOptions<R>>>,
    group?: number,
  ): Table<R> & Readonly<Record<Names, Index<R>>> => {
    const made = { name, id, group, indexes: [] as Array<Index<R>> };
    const named = Object.entries<IndexOptions<R>>(indexes).map(([short, options]) => {
      const index: Index<R> = { ...options, name: `${name}.${short}`, table: made };
      made.indexes.push(index);
      return [short, index];
    });
    return Object.assign(made, Object.fromEntries(named));
  };

export const keyOf = <R>({ name }: Table<R>, id: Tuple): string => encode([name, ...id]);

/** Returns the keys of the index entries of a record. */
export const entryKeys = <R>({ indexes }: Table<R>, record: R): ReadonlyArray<string> =>
  indexes.flatMap(({ name, keys }) => keys(record).map((parts) => encode([name, ...parts])));

export const guardKey = (name: string, group: Tuple): string => encode(["guard", name, ...group]);

/** Returns the keys of the guards of a record's groups. */
export const guardKeys = <R>({ name, group, id, indexes }: Table<R>, record: R): ReadonlyArray<string> => [
  ...(group === undefined ? [] : [guardKey(name, id(record).slice(0, group))]),
  ...indexes.flatMap((index) => {
    const size = index.group;
    return size === undefined
      ? []
      : index.keys(record).map((parts) => guardKey(index.name, parts.slice(0, size)));
  }),
];
