/** The port of a SQLite database, in promises: what an adapter implements. */

/** A parameter of a statement. */
export type SqliteValue = null | string | number | bigint | boolean | Uint8Array;

export interface SqliteResult {
  /** Each row by the names of its columns, in their order. Integers as `number`. */
  readonly rows: ReadonlyArray<Readonly<Record<string, unknown>>>;
  /** How many rows the statement wrote. */
  readonly changes: number;
}

/** Runs one statement, whose parameters are `?`. A rejection has the message of SQLite, or it as its cause. */
export type ExecuteSqlite = (sql: string, params: ReadonlyArray<SqliteValue>) => Promise<SqliteResult>;

/** A transaction on a connection of its own. Savepoints are statements of `execute`. */
export interface SqliteTransaction {
  readonly execute: ExecuteSqlite;
  readonly commit: () => Promise<void>;
  /** Also frees the connection. Called after a failed commit too. */
  readonly rollback: () => Promise<void>;
}

/**
 * A database of SQLite 3.42 or later, which enforces foreign keys: check that `PRAGMA foreign_keys` answers 1 in a
 * transaction and outside of one. A committed transaction survives a crash.
 */
export interface SqliteDatabase {
  /** Runs a statement outside of transactions. It sees every transaction that was committed before. */
  readonly execute: ExecuteSqlite;

  /**
   * Begins a transaction that may write: `BEGIN IMMEDIATE`. Of one process at most one is open at a time; the lock of
   * another process is waited for, or the promise is rejected.
   */
  readonly begin: () => Promise<SqliteTransaction>;

  /** Called once, after the last other call. */
  readonly close?: () => Promise<void>;
}
