/** A table of records: the key of a record, and the indexes by which records are found. */
import { encode, type Tuple } from "./keys.ts";

/**
 * An index has any number of entries for a record, none of which another record has. `group` is the number of the
 * leading parts by which a transaction reads it: each change of a record changes the guards of its groups, and a read
 * in a transaction checks the guard of its group. Without a group, only reads outside of transactions use the index.
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

/** How many guards an index has at most. Groups that share a guard only make transactions run again for nothing. */
const mostGuards = 2 ** 16;

/** The guard of a group. No guard is ever deleted, so guards are few, and no ID of a user can be read in their names. */
export const guardKey = (name: string, group: Tuple): string =>
  encode(["guard", name, hashOf(encode(group)) % mostGuards]);

/** FNV-1a. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
};

/** What a record adds to a store beside itself. */
export interface IndexKeys {
  /** The keys of its entries in indexes. */
  readonly entries: ReadonlySet<string>;
  /** The keys of the guards of its groups. */
  readonly guards: ReadonlyArray<string>;
}

export const noKeys: IndexKeys = { entries: new Set(), guards: [] };

export const indexKeys = <R>({ name, group, id, indexes }: Table<R>, record: R): IndexKeys => {
  const entries = new Set<string>();
  const guards = group === undefined ? [] : [guardKey(name, id(record).slice(0, group))];
  for (const index of indexes) {
    for (const parts of index.keys(record)) {
      entries.add(encode([index.name, ...parts]));
      if (index.group !== undefined) guards.push(guardKey(index.name, parts.slice(0, index.group)));
    }
  }
  return { entries, guards };
};
