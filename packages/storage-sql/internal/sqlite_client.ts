/** The client of `effect/sql` for SQLite, over node:sqlite: a file from which one process serves and others write beside. */
import { DatabaseSync } from "node:sqlite";
import { isTraced } from "@accountlink/core";
import { Context, Duration, Effect, Layer, type Scope, Stream } from "effect";
import { Reactivity } from "effect/reactivity";
import { SqlClient, SqlConnection, SqlError, Statement } from "effect/sql";
import { withStatementSpan } from "../statement_span.ts";
import { Access, inTransaction, type Run } from "./sqlite_access.ts";
import { untilUnlocked } from "./sqlite_busy.ts";
import { Reader } from "./sqlite_reader.ts";
import { type Statements, statementsOf } from "./sqlite_statement.ts";

/** Where the database is and how it waits. */
export interface SqliteOptions {
  /** Path of the database file, made when there is none, in a folder that exists; or `:memory:`. */
  readonly filename: string;
  /**
   * How long a statement or a BEGIN waits for another process that holds the lock, before it fails with
   * `LockTimeoutError`. 5 seconds when left out.
   */
  readonly busyTimeout?: Duration.Input;
}

/**
 * The embedded database. An answered write survives a crash of the process and of the machine.
 *
 * `SqlClient` is the way to write queries. `Connection` is for reads on a hot path, outside of transactions, of a text
 * that is fixed beforehand: `connection.execute(text, params, undefined)` spares the template and the span, and shares
 * its snapshot with the other reads of a turn of the event loop. `SqlClient`'s own `compile()` gives the text.
 *
 * Fails with `SqlError` when the file cannot be opened or its folder cannot take a write-ahead log. A parameter that is
 * not null, string, number, bigint, boolean or Uint8Array is a defect that names its position and type. Integers beyond
 * `Number.MAX_SAFE_INTEGER` can be written as bigint but not read back as numbers: read them as text.
 */
export function layerSqlite(
  options: SqliteOptions,
): Layer.Layer<SqlClient.SqlClient | SqlConnection.Connection, SqlError.SqlError> {
  return Layer.effectContext(make(options)).pipe(Layer.provide(Reactivity.layer));
}

const make = Effect.fnUntraced(function* (options: SqliteOptions) {
  const busyTimeout = Duration.toMillis(options.busyTimeout ?? "5 seconds");
  const db = yield* acquire(() => open(options.filename), busyTimeout);
  const Direct = (yield* isTraced) ? TracedConnection : Connection;
  const reader = yield* makeReader(options.filename, busyTimeout, Direct);
  const access = new Access(db, busyTimeout, () => reader?.leave());
  const statements = statementsOf(db);
  const shared = new Connection(access.shared, statements);

  const client = yield* SqlClient.make({
    driver: "node-sqlite",
    compiler: Statement.makeCompilerSqlite(),
    spanAttributes: [["db.system.name", "sqlite"]],
    acquirer: Effect.succeed(shared),
    borrower: (use) => use(shared),
    transactionAcquirer: Effect.map(access.lease, (run) => new Connection(run, statements)),
    // A transaction that begins by reading could not become a writer once another process wrote in between.
    beginTransaction: "BEGIN IMMEDIATE",
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    isTransaction: () => inTransaction(db),
  });

  return Context.make(SqlClient.SqlClient, client).pipe(
    Context.add(SqlConnection.Connection, reader ?? shared),
  );
});

/** Opens a database and closes it with the scope. `busyTimeout` in milliseconds. */
function acquire(
  connect: () => DatabaseSync,
  busyTimeout: number,
): Effect.Effect<DatabaseSync, SqlError.SqlError, Scope.Scope> {
  return Effect.acquireRelease(
    untilUnlocked(busyTimeout, () => Effect.succeed(connect())),
    (db) => Effect.sync(() => db.isOpen && db.close()),
  );
}

/** Nothing but its own connection sees a database in memory. */
const makeReader = Effect.fnUntraced(function* (
  filename: string,
  busyTimeout: number,
  Direct: typeof Connection,
) {
  if (filename === ":memory:") return undefined;
  const db = yield* acquire(() => openToRead(filename), busyTimeout);
  const reader = new Reader(db, busyTimeout);
  return Object.assign(new Direct(reader.run, statementsOf(db)), { leave: reader.leave });
});

function open(filename: string): DatabaseSync {
  const db = new DatabaseSync(filename, { enableForeignKeyConstraints: true, timeout: 0 });
  try {
    const mode = db.prepare("PRAGMA journal_mode = WAL").get()?.["journal_mode"];
    if (mode !== "wal" && mode !== "memory") throw noWriteAheadLog();
    // In the mode WAL, NORMAL would lose answered writes when the machine goes down; fullfsync is for macOS alone.
    db.exec("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON");
    return db;
  } catch (cause) {
    db.close();
    throw cause;
  }
}

function openToRead(filename: string): DatabaseSync {
  const db = new DatabaseSync(filename, { readOnly: true, timeout: 0 });
  // Pages are read from the file's own memory instead of with a system call each.
  db.exec("PRAGMA mmap_size = 1073741824; PRAGMA cache_size = -65536");
  return db;
}

function noWriteAheadLog(): SqlError.SqlError {
  const message = "Cannot open the database: its file system takes no write-ahead log, expected a local disk";
  return new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: undefined, message }) });
}

class Connection implements SqlConnection.Connection {
  readonly run: Run;
  readonly #statements: Statements;

  constructor(run: Run, statements: Statements) {
    this.run = run;
    this.#statements = statements;
  }

  execute(sql: string, params: ReadonlyArray<unknown>, transformRows: TransformRows | undefined) {
    return this.run(() => transformed(this.#statements.rows.all(sql, params), transformRows));
  }

  /** Gives `{ changes, lastInsertRowid }`. */
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
    return Stream.suspend(() => Stream.fail(streamRefused()));
  }
}

/** Whose statements have spans as those of `SqlClient` do. */
class TracedConnection extends Connection {
  override execute(sql: string, params: ReadonlyArray<unknown>, transformRows: TransformRows | undefined) {
    return withStatementSpan("sqlite", sql, super.execute(sql, params, transformRows));
  }
}

type TransformRows = <A extends object>(rows: ReadonlyArray<A>) => ReadonlyArray<A>;

function transformed<A extends object>(rows: ReadonlyArray<A>, transformRows: TransformRows | undefined) {
  return transformRows === undefined ? rows : transformRows(rows);
}

function streamRefused(): SqlError.SqlError {
  const message = "Cannot stream rows: one connection serves everybody, expected pages by key";
  return new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: undefined, message }) });
}
