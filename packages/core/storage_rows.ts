/** The rows of an SQL storage, for a move to or from a storage without SQL. */
import type { StoreEffect } from "./errors.ts";
import type { MoveRefused } from "./storage_state.ts";

/** @internal */
export type RowValue = string | number | null;

/** A row by its columns, as SQLite has it. @internal */
export type Row = Readonly<Record<string, RowValue>>;

/** A port of SQL storages alone. A relation is a table, or a view that a move reads. @internal */
export interface StorageRows {
  /** Returns the first rows of a relation after a key, in the order of their keys. */
  readonly page: (
    relation: string,
    after: ReadonlyArray<RowValue> | null,
    limit: number,
  ) => StoreEffect<ReadonlyArray<Row>>;

  /** Finds the rows whose columns have these values. */
  readonly find: (
    relation: string,
    columns: ReadonlyArray<string>,
    values: ReadonlyArray<ReadonlyArray<RowValue>>,
  ) => StoreEffect<ReadonlyArray<Row>>;

  readonly count: (relation: string) => StoreEffect<number>;

  /** The columns of the key of a relation. */
  readonly keyOf: (relation: string) => ReadonlyArray<string>;

  /** Marks an empty storage as the target of a move. Returns the saved place of an earlier attempt with the same source. */
  readonly begin: (rootKey: string) => StoreEffect<string | null, MoveRefused>;

  /**
   * Inserts rows of several tables and saves the place, in one transaction. Fails if another move has saved a place
   * meanwhile.
   */
  readonly insert: (
    tables: Readonly<Record<string, ReadonlyArray<Row>>>,
    place: string,
  ) => StoreEffect<void, MoveRefused>;

  /** Ends the move: the storage is whole. */
  readonly end: StoreEffect<void>;
}
