/**
 * Prepares the statements of a node:sqlite connection, binds their parameters, and runs them. The fiber waits for locks
 * of other processes, since SQLite's own wait would block the process.
 */
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { Effect } from "effect";
import type { SqlConnection, SqlError } from "effect/sql";
import { withStatementSpan } from "../../statements/statement_span.ts";
import { streamRefused } from "../../statements/stream_refused.ts";
import { failWith, isBusy } from "./sql_error.ts";

export type Run = <A>(statement: () => A) => Effect.Effect<A, SqlError.SqlError>;

export class Connection implements SqlConnection.Connection {
  readonly run: Run;
  readonly #statements: Statements;

  constructor(run: Run, statements: Statements) {
    this.run = run;
    this.#statements = statements;
  }

  execute(sql: string, params: ReadonlyArray<unknown>, transformRows: TransformRows | undefined) {
    return this.run(() => transformed(this.#statements.rows.all(sql, params), transformRows));
  }

  executeRaw(sql: string, params: ReadonlyArray<unknown>) {
    return this.run(() => this.#statements.rows.run(sql, params));
  }

  executeValues(sql: string, params: ReadonlyArray<unknown>) {
    return this.run(() => this.#statements.values.all(sql, params));
  }

  executeUnprepared(sql: string, params: ReadonlyArray<unknown>, transformRows: TransformRows | undefined) {
    return this.run(() => transformed(this.#statements.rows.allOnce(sql, params), transformRows));
  }

  executeValuesUnprepared(sql: string, params: ReadonlyArray<unknown>) {
    return this.run(() => this.#statements.values.allOnce(sql, params));
  }

  executeStream() {
    return streamRefused;
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

function transformed<A extends object>(rows: ReadonlyArray<A>, transformRows: TransformRows | undefined) {
  return transformRows === undefined ? rows : transformRows(rows);
}

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

export function statementsOf(db: DatabaseSync, capacity = 200): Statements {
  return {
    rows: new StatementCache(db, { capacity, returnArrays: false }),
    values: new StatementCache(db, { capacity, returnArrays: true }),
  };
}

interface Prepared {
  readonly statement: StatementSync;
  readonly placeholders: number;
}

/**
 * Caches prepared statements by SQL text in two generations, which approximates LRU. When `recent` is full, it becomes
 * `older` and a new `recent` begins. A statement found in `recent` is not moved, which keeps the hot path fast.
 */
class StatementCache<A> {
  readonly #db: DatabaseSync;
  readonly #capacity: number;
  readonly #returnArrays: boolean;
  #recent = new Map<string, Prepared>();
  #older = new Map<string, Prepared>();

  /** @param options.capacity maximum number of statements in each of the two generations */
  constructor(db: DatabaseSync, options: { readonly capacity: number; readonly returnArrays: boolean }) {
    this.#db = db;
    this.#capacity = options.capacity;
    this.#returnArrays = options.returnArrays;
  }

  all(sql: string, params: ReadonlyArray<unknown>): ReadonlyArray<A> {
    return this.#allOf(this.#get(sql), params);
  }

  run(sql: string, params: ReadonlyArray<unknown>): ReturnType<StatementSync["run"]> {
    const prepared = this.#get(sql);
    return prepared.statement.run(...bind(prepared, params));
  }

  allOnce(sql: string, params: ReadonlyArray<unknown>): ReadonlyArray<A> {
    return this.#allOf(this.#prepare(sql), params);
  }

  #allOf(prepared: Prepared, params: ReadonlyArray<unknown>): ReadonlyArray<A> {
    // The types of node:sqlite always describe rows as objects, even after `setReturnArrays` has made them arrays.
    return prepared.statement.all(...bind(prepared, params)) as ReadonlyArray<unknown> as ReadonlyArray<A>;
  }

  #get(sql: string): Prepared {
    const recent = this.#recent.get(sql);
    if (recent !== undefined) return recent;
    const prepared = this.#older.get(sql) ?? this.#prepare(sql);
    if (this.#recent.size >= this.#capacity) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(sql, prepared);
    return prepared;
  }

  #prepare(sql: string): Prepared {
    const code = sql.replace(quotedOrComment, "''");
    // node:sqlite would silently run only the first of several statements. The semicolons inside a trigger do not
    // separate statements.
    if (/;\s*\S/.test(code) && !/^\s*CREATE\s+(TEMP\w*\s+)?TRIGGER\b/i.test(code)) {
      throw new TypeError("Cannot run SQL text: it holds several statements, expected one");
    }
    const statement = this.#db.prepare(sql);
    if (this.#returnArrays) statement.setReturnArrays(true);
    return { statement, placeholders: code.split("?").length - 1 };
  }
}

const quotedOrComment = /'[^']*'|"[^"]*"|--[^\n]*|\/\*[\s\S]*?\*\//g;

function bind(prepared: Prepared, params: ReadonlyArray<unknown>): Array<SQLInputValue> {
  // node:sqlite would bind NULL to missing parameters.
  if (params.length !== prepared.placeholders) {
    throw new TypeError(
      `Cannot bind parameters: there are ${params.length}, expected ${prepared.placeholders} as the SQL text has "?"`,
    );
  }
  return params.map(bindable);
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
