/** `SqlClient` for SQLite, on node:sqlite. Other processes may write to the same file. */
import type { DatabaseSync } from "node:sqlite";
import { isTraced } from "@accountlink/core/telemetry";
import { Context, Duration, Effect, Layer, type Scope } from "effect";
import { Reactivity } from "effect/reactivity";
import { SqlClient, SqlConnection, SqlError, Statement } from "effect/sql";
import { IsBulk } from "../../statements/dialect.ts";
import { OneStepTransactions } from "../../statements/one_step.ts";
import { nodeSqlite } from "../node_sqlite.ts";
import { Access, type Lease } from "./access.ts";
import { BulkConnection, makeBulkLease } from "./bulk_connection.ts";
import { makeCheckpoints } from "./checkpoints.ts";
import {
  Connection,
  PreparingConnection,
  retryWhileLocked,
  SnapshotReader,
  type Statements,
  statementsOf,
  TracedConnection,
  type TransformRows,
} from "./connection.ts";
import { logFullDisk } from "./full_disk.ts";

export interface SqliteOptions {
  /** Path of the database file, created if missing, in an existing folder; or `:memory:`. */
  readonly filename: string;
  /**
   * How long a statement or a BEGIN waits for the lock of another process, before it fails with `LockTimeoutError`; 5
   * seconds by default.
   */
  readonly busyTimeout?: Duration.Input;
}

/**
 * The embedded database. An answered write survives a crash of the process and of the machine.
 *
 * Use `SqlClient` for queries in general, and `Connection` for constant statements on the hot path outside of
 * transactions: `connection.execute(text, params, undefined)` builds no template and no span, and shares its snapshot
 * with the other reads of a turn of the event loop. The method `compile()` of a statement returns its text.
 *
 * Fails with `SqlError` if the file cannot be opened or its file system does not support a write-ahead log. A
 * parameter that is not null, string, number, bigint, boolean or Uint8Array is a defect that names its position and
 * type. Integers beyond `Number.MAX_SAFE_INTEGER` can be written as bigint, but must be read as text.
 */
export function layerSqlite(
  options: SqliteOptions,
): Layer.Layer<SqlClient.SqlClient | SqlConnection.Connection, SqlError.SqlError> {
  return Layer.effectContext(make(options)).pipe(Layer.provide(Reactivity.layer));
}

const make = Effect.fnUntraced(function* (options: SqliteOptions) {
  const busyTimeout = Duration.toMillis(options.busyTimeout ?? "5 seconds");
  const { filename } = options;
  const thread = { filename, busyTimeout, settings: writerSettings };
  // Its thread ends after `db` is closed, which refuses new transactions.
  const leaseBulk = yield* makeBulkLease(thread);
  const db = yield* acquire(() => open(filename), busyTimeout);
  const Direct = (yield* isTraced) ? TracedConnection : Connection;
  const reader = yield* makeReader(filename, busyTimeout, Direct);
  // A memory database cannot fill the disk.
  const onDiskFull = reader === undefined ? () => {} : yield* logFullDisk(filename, dataVersion(reader));
  const onWrite = () => reader?.endSnapshot();
  const onCommit = reader === undefined ? () => {} : yield* makeCheckpoints(thread);
  const statements = statementsOf(db);
  const access = new Access(db, statements, { busyTimeout, onWrite, onCommit, onDiskFull });
  const shared = new SharedConnection(access, statements, reader?.plain);

  const client = yield* SqlClient.make({
    driver: "node-sqlite",
    compiler: Statement.makeCompilerSqlite(),
    spanAttributes: [["db.system.name", "sqlite"]],
    acquirer: Effect.succeed(shared),
    borrower: (use) => use(shared),
    transactionAcquirer: Effect.flatMap(
      IsBulk,
      (isBulk): SqlConnection.Acquirer =>
        // Only `db` itself sees a memory database.
        isBulk && reader !== undefined && db.isOpen
          ? access.leaseBulk(leaseBulk(onDiskFull))
          : Effect.map(access.lease, (lease) => new LeasedConnection(lease, statements)),
    ),
    // Take the write lock at once. A transaction that begins by reading could not write after another process has
    // written.
    beginTransaction,
    prepareTransactionControls: true,
    commit: (connection) =>
      connection instanceof LeasedConnection
        ? connection.lease.commit
        : Effect.asVoid(connection.execute("COMMIT", [], undefined)),
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    isTransaction: (connection) =>
      connection instanceof BulkConnection
        ? connection.isTransaction
        : connection instanceof LeasedConnection && connection.lease.isTransaction(),
  });

  return Context.make(SqlClient.SqlClient, client).pipe(
    Context.add(SqlConnection.Connection, reader ?? shared),
    Context.add(OneStepTransactions, (body) => access.oneStep(() => body(statements.rows))),
  );
});

/** Statements outside of transactions: reads see committed rows, and writes take the writer's turns. */
class SharedConnection extends PreparingConnection {
  readonly #connectionFor: (sql: string) => Connection;

  constructor({ write, alone }: Access, statements: Statements, reader: Connection | undefined) {
    super();
    const [writer, apart] = [new Connection(write, statements), new Connection(alone, statements)];
    this.#connectionFor = (sql) =>
      isRead.test(sql) ? (reader ?? apart) : isSetting.test(sql) ? apart : writer;
  }

  execute(sql: string, params: ReadonlyArray<unknown>, transformRows: TransformRows | undefined) {
    return this.#connectionFor(sql).execute(sql, params, transformRows);
  }

  executeRaw(sql: string, params: ReadonlyArray<unknown>) {
    return this.#connectionFor(sql).executeRaw(sql, params);
  }

  executeValues(sql: string, params: ReadonlyArray<unknown>) {
    return this.#connectionFor(sql).executeValues(sql, params);
  }
}

/** Reads, and settings, which cannot be changed in a transaction. Anything else is taken for a write. */
const [isRead, isSetting] = [/^\s*select\b/i, /^\s*(?:pragma|vacuum|attach|detach)\b/i];

const beginTransaction = "BEGIN IMMEDIATE";

/** The connection of a transaction, whose lease begins and ends it. */
class LeasedConnection extends Connection {
  readonly lease: Lease;

  constructor(lease: Lease, statements: Statements) {
    super(lease.run, statements);
    this.lease = lease;
  }

  override execute(sql: string, params: ReadonlyArray<unknown>, transformRows: TransformRows | undefined) {
    if (sql === beginTransaction) return Effect.as(this.lease.begin, []);
    return sql === "ROLLBACK"
      ? Effect.as(this.lease.rollback, [])
      : super.execute(sql, params, transformRows);
  }
}

/** @param busyTimeout in milliseconds */
function acquire(
  connect: () => DatabaseSync,
  busyTimeout: number,
): Effect.Effect<DatabaseSync, SqlError.SqlError, Scope.Scope> {
  return Effect.acquireRelease(
    retryWhileLocked(busyTimeout, () => Effect.succeed(connect())),
    (db) => Effect.sync(() => db.isOpen && db.close()),
  );
}

/** A memory database has no reader, since only its own connection sees it. */
const makeReader = Effect.fnUntraced(function* (
  filename: string,
  busyTimeout: number,
  Direct: typeof Connection,
) {
  if (filename === ":memory:") return undefined;
  const db = yield* acquire(() => openToRead(filename), busyTimeout);
  const reader = new SnapshotReader(db, busyTimeout);
  const statements = statementsOf(db);
  const { endSnapshot, run } = reader;
  return Object.assign(new Direct(run, statements), { endSnapshot, plain: new Connection(run, statements) });
});

/** Reads a number that changes whenever another connection commits to the file. */
const dataVersion = (reader: Connection) =>
  Effect.map(reader.executeValues("PRAGMA data_version", []), ([row]) => row?.[0]);

/**
 * With a write-ahead log, `synchronous = NORMAL` could lose answered writes when the machine crashes. On macOS, only
 * `fullfsync` makes writes survive such a crash. `secure_delete` overwrites erased data, which would otherwise stay in
 * free pages of the file. The checkpoints of a thread keep the log far below 4000 pages, unless commits follow each other
 * without a pause.
 */
const writerSettings =
  "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 4000";

function open(filename: string): DatabaseSync {
  const db = new (nodeSqlite().DatabaseSync)(filename, { enableForeignKeyConstraints: true, timeout: 0 });
  try {
    const mode = db.prepare("PRAGMA journal_mode = WAL").get()?.["journal_mode"];
    if (mode !== "wal" && mode !== "memory") throw noWriteAheadLog();
    // The savepoints of a shared commit would otherwise write the pages that they change to a temporary file.
    db.exec(`${writerSettings}; PRAGMA temp_store = MEMORY`);
    return db;
  } catch (cause) {
    db.close();
    throw cause;
  }
}

function openToRead(filename: string): DatabaseSync {
  const db = new (nodeSqlite().DatabaseSync)(filename, { readOnly: true, timeout: 0 });
  // Memory-mapped reads save a system call for each page. The page cache has 64 MiB.
  db.exec("PRAGMA mmap_size = 1073741824; PRAGMA cache_size = -65536");
  return db;
}

function noWriteAheadLog(): SqlError.SqlError {
  const message =
    "Cannot open the database: its file system does not support a write-ahead log, expected a local disk";
  return new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: undefined, message }) });
}
