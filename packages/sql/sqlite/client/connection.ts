/**
 * Prepares the statements of a node:sqlite connection, binds their parameters, and runs them. The fiber waits for locks
 * of other processes, since SQLite's own wait would block the process.
 */
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { Effect } from "effect";
import type { SqlConnection, SqlError } from "effect/sql";
import { streamRefused, withStatementSpan } from "../../statements/connection_parts.ts";
import { failWith, isBusy } from "./sql_error.ts";

export type Run = <A>(statement: () => A) => Effect.Effect<A, SqlError.SqlError>;

type Execute = SqlConnection.Connection["execute"];
type ExecuteValues = SqlConnection.Connection["executeValues"];

/** What every connection does: it prepares each statement, and refuses to stream. */
export abstract class PreparingConnection implements SqlConnection.Connection {
  abstract execute(...args: Parameters<Execute>): ReturnType<Execute>;
  abstract executeRaw(sql: string, params: ReadonlyArray<unknown>): Effect.Effect<unknown, SqlError.SqlError>;
  abstract executeValues(sql: string, params: ReadonlyArray<unknown>): ReturnType<ExecuteValues>;

  executeUnprepared(...args: Parameters<Execute>) {
    return this.execute(...args);
  }

  executeValuesUnprepared(sql: string, params: ReadonlyArray<unknown>) {
    return this.executeValues(sql, params);
  }

  executeStream() {
    return streamRefused;
  }
}

export class Connection extends PreparingConnection {
  readonly run: Run;
  readonly #statements: Statements;

  constructor(run: Run, statements: Statements) {
    super();
    this.run = run;
    this.#statements = statements;
  }

  execute(sql: string, params: ReadonlyArray<unknown>, transformRows: TransformRows | undefined) {
    return this.run(() => {
      const rows = this.#statements.rows.all(sql, params);
      return transformRows === undefined ? rows : transformRows(rows);
    });
  }

  executeRaw(sql: string, params: ReadonlyArray<unknown>) {
    return this.run(() => this.#statements.rows.run(sql, params));
  }

  executeValues(sql: string, params: ReadonlyArray<unknown>) {
    return this.run(() => this.#statements.values.all(sql, params));
  }
}

/** Traces statements, as `SqlClient` does. */
export class TracedConnection extends Connection {
  override execute(sql: string, params: ReadonlyArray<unknown>, transformRows: TransformRows | undefined) {
    return withStatementSpan("sqlite", sql, super.execute(sql, params, transformRows));
  }

  override executeValues(sql: string, params: ReadonlyArray<unknown>) {
    return withStatementSpan("sqlite", sql, super.executeValues(sql, params));
  }
}

export type TransformRows = <A extends object>(rows: ReadonlyArray<A>) => ReadonlyArray<A>;

/**
 * Reads outside of transactions, on a separate connection.
 *
 * Beginning and ending a snapshot costs SQLite more than a point read. So the reads of one turn of the event loop
 * share a snapshot, which ends with the turn or with a write of this process. A read sees every write of this process
 * that was answered before the read; writes of other processes are visible in the next turn.
 */
export class SnapshotReader {
  readonly #db: DatabaseSync;
  readonly #busyTimeout: number;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  #reading = false;

  /** @param db a read-only connection that nothing else uses */
  constructor(db: DatabaseSync, busyTimeout: number) {
    this.#db = db;
    this.#busyTimeout = busyTimeout;
    this.#begin = db.prepare("BEGIN");
    this.#end = db.prepare("COMMIT");
  }

  readonly run: Run = (statement) =>
    retryWhileLocked(this.#busyTimeout, () => {
      if (!this.#reading) {
        this.#begin.run();
        this.#reading = true;
        setImmediate(this.endSnapshot);
      }
      try {
        return Effect.succeed(statement());
      } catch (cause) {
        this.endSnapshot();
        throw cause;
      }
    });

  /** Ends the snapshot, so that the next read takes a new one. */
  readonly endSnapshot = (): void => {
    if (!this.#reading) return;
    this.#reading = false;
    // A closed connection has no snapshot to end. COMMIT may fail if the file is damaged, but even then it ends the
    // snapshot.
    if (this.#db.isOpen && this.#db.isTransaction) endQuietly(this.#end);
  };
}

function endQuietly(end: StatementSync): void {
  try {
    end.run();
  } catch {
    // Ignore the error of a damaged file: all rows were read before the snapshot ends, and the next read reports the
    // damage.
  }
}

/**
 * Retries `attempt` while another process holds the lock, for up to `busyTimeout` milliseconds. Measures the pauses in
 * real time instead of by the `Clock`, because the other process does not follow a test clock.
 */
export function retryWhileLocked<A>(
  busyTimeout: number,
  attempt: () => Effect.Effect<A, SqlError.SqlError>,
): Effect.Effect<A, SqlError.SqlError> {
  const attemptBefore = (deadline: number | undefined, wait: number): Effect.Effect<A, SqlError.SqlError> =>
    Effect.suspend(() => {
      try {
        return attempt();
      } catch (cause) {
        const now = performance.now();
        const end = deadline ?? now + busyTimeout;
        if (now >= end || !isBusy(cause)) return failWith(cause);
        return Effect.andThen(
          Effect.promise((signal) => pause(wait, undefined, { signal })),
          attemptBefore(end, Math.min(wait * 2, longestPause)),
        );
      }
    });
  return attemptBefore(undefined, 1);
}

/** The longest pause between two attempts of `retryWhileLocked`, in milliseconds. */
const longestPause = 25;

/** The prepared statements of a connection. Those in `rows` return objects, and those in `values` return arrays. */
export interface Statements {
  readonly rows: StatementCache<Record<string, SQLOutputValue>>;
  readonly values: StatementCache<ReadonlyArray<SQLOutputValue>>;
}

export function statementsOf(db: DatabaseSync, capacity = 400): Statements {
  return { rows: new StatementCache(db, capacity, false), values: new StatementCache(db, capacity, true) };
}

/** Caches prepared statements by SQL text. When the cache is full, it begins anew. */
class StatementCache<A> {
  readonly #db: DatabaseSync;
  readonly #capacity: number;
  readonly #returnArrays: boolean;
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync, capacity: number, returnArrays: boolean) {
    this.#db = db;
    this.#capacity = capacity;
    this.#returnArrays = returnArrays;
  }

  all(sql: string, params: ReadonlyArray<unknown>): ReadonlyArray<A> {
    // The types of node:sqlite always describe rows as objects, even after `setReturnArrays` has made them arrays.
    return this.#get(sql).all(...params.map(bindable)) as ReadonlyArray<unknown> as ReadonlyArray<A>;
  }

  run(sql: string, params: ReadonlyArray<unknown>): ReturnType<StatementSync["run"]> {
    return this.#get(sql).run(...params.map(bindable));
  }

  #get(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#db.prepare(sql);
    if (this.#returnArrays) statement.setReturnArrays(true);
    if (this.#statements.size >= this.#capacity) this.#statements.clear();
    this.#statements.set(sql, statement);
    return statement;
  }
}

/**
 * Refuses values such as a Date or NaN, because node:sqlite would bind NULL for them. Converts integers to bigint,
 * because node:sqlite would bind them as floats, and a text column would store 5 as "5.0".
 */
export function bindable(value: unknown, index: number): SQLInputValue {
  if (typeof value === "string" || typeof value === "bigint" || value === null) return value;
  if (typeof value === "number" && !Number.isNaN(value)) {
    return Number.isSafeInteger(value) ? BigInt(value) : value;
  }
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(
    `Cannot bind parameter ${index + 1}: it is ${typeName(value)}, expected null, string, number, bigint, boolean or Uint8Array`,
  );
}

function typeName(value: unknown): string {
  if (Number.isNaN(value)) return "NaN";
  return typeof value === "object" ? (value?.constructor?.name ?? "an object") : typeof value;
}
