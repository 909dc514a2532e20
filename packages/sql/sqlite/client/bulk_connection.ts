/**
 * Runs transactions over many rows in a thread with a connection of its own. In the main thread, their statements, the
 * sync of their COMMIT and the checkpoint after it would each delay every request of the process.
 */
import type { SQLOutputValue } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { Effect, RcRef, type Scope } from "effect";
import { rolledBack } from "./access.ts";
import { bindable, PreparingConnection, type TransformRows } from "./connection.ts";
import { failWith, isDiskFull } from "./sql_error.ts";

export interface BulkOptions {
  readonly filename: string;
  /** How long a statement waits for the lock of another connection, in milliseconds. */
  readonly busyTimeout: number;
  /** The PRAGMA statements of every connection that writes. */
  readonly settings: string;
}

/** Returns a function that leases the connection until the scope closes. A thread that is idle for a minute ends. */
export const makeBulkLease = Effect.fnUntraced(function* (options: BulkOptions) {
  const threads = yield* RcRef.make({ acquire: startThread(options), idleTimeToLive: "1 minute" });
  return (onDiskFull: () => void): Effect.Effect<BulkConnection, never, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.map(RcRef.get(threads), (worker) => new BulkConnection(worker, onDiskFull)),
      (connection) => connection.end,
    );
});

export const startThread = (workerData: object): Effect.Effect<Worker, never, Scope.Scope> =>
  Effect.acquireRelease(
    // Without the options of this process, of which --input-type would change the language of the program.
    Effect.sync(() => new Worker(program, { eval: true, workerData, execArgv: [] })),
    (worker) => Effect.promise(() => worker.terminate()),
  );

/**
 * The program of the thread. It is a string, because a file would get lost when embedders bundle this module. The page
 * cache has 64 MiB: with the default of 2 MB, an import would write many pages several times.
 */
const program = `
  const { DatabaseSync } = require("node:sqlite");
  const { parentPort, workerData } = require("node:worker_threads");
  let db;
  const open = ({ filename, busyTimeout, settings }) => {
    db = new DatabaseSync(filename, { enableForeignKeyConstraints: true, timeout: busyTimeout });
    db.exec(settings + "; PRAGMA cache_size = -65536");
  };
  const statements = new Map();
  const run = ({ sql, params, method, returnArrays }) => {
    if (db === undefined) open(workerData);
    const statement = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, statement);
    statement.setReturnArrays(returnArrays);
    return statement[method](...params);
  };
  parentPort.on("message", (request) => {
    const reply = {};
    try {
      reply.result = run(request);
    } catch ({ message, code, errcode }) {
      reply.error = { message, code, errcode };
    }
    parentPort.postMessage({ ...reply, isTransaction: db?.isTransaction ?? false });
  });
`;

interface Request {
  readonly sql: string;
  readonly params: ReadonlyArray<unknown>;
  readonly method: "all" | "run";
  readonly returnArrays: boolean;
}

interface Reply {
  readonly result: unknown;
  /** The properties of an error of node:sqlite. */
  readonly error?: object;
  readonly isTransaction: boolean;
}

/** The reply when the database is closed during a transaction. */
const closed: Reply = { result: undefined, error: { code: "ERR_INVALID_STATE" }, isTransaction: false };

export class BulkConnection extends PreparingConnection {
  readonly #worker: Worker;
  readonly #onDiskFull: () => void;
  #isTransaction = false;
  /** True when the transaction has ended. Each later statement would commit at once. */
  #isOver = false;

  constructor(worker: Worker, onDiskFull: () => void) {
    super();
    this.#worker = worker;
    this.#onDiskFull = onDiskFull;
  }

  get isTransaction(): boolean {
    return this.#isTransaction;
  }

  execute(sql: string, params: ReadonlyArray<unknown>, transformRows: TransformRows | undefined) {
    return Effect.map(this.#run(sql, params, "all"), (result) => {
      const rows = result as ReadonlyArray<Record<string, SQLOutputValue>>;
      return transformRows === undefined ? rows : transformRows(rows);
    });
  }

  executeRaw(sql: string, params: ReadonlyArray<unknown>) {
    return this.#run(sql, params, "run");
  }

  executeValues(sql: string, params: ReadonlyArray<unknown>) {
    return Effect.map(
      this.#run(sql, params, "all", true),
      (result) => result as ReadonlyArray<ReadonlyArray<SQLOutputValue>>,
    );
  }

  /** Refuses later statements, and rolls back a transaction that is still open, for example because its COMMIT failed. */
  readonly end: Effect.Effect<void> = Effect.suspend(() => {
    this.#isOver = true;
    return this.#isTransaction
      ? Effect.asVoid(this.#ask({ sql: "ROLLBACK", params: [], method: "run", returnArrays: false }))
      : Effect.void;
  });

  readonly #run = Effect.fnUntraced(
    { self: this },
    function* (sql: string, params: ReadonlyArray<unknown>, method: Request["method"], returnArrays = false) {
      if (this.#isOver) return yield* Effect.fail(rolledBack());
      const bound = params.map(bindable);
      const { result, error, isTransaction } = yield* this.#ask({ sql, params: bound, method, returnArrays });
      // SQLite may roll the transaction back by itself, for example on a full disk.
      if (this.#isTransaction && !isTransaction) this.#isOver = true;
      this.#isTransaction = isTransaction;
      if (error === undefined) return result;
      if (isDiskFull(error)) this.#onDiskFull();
      return yield* failWith(Object.assign(new Error(), error));
    },
  );

  /** Cannot be interrupted, so that the next reply belongs to the next request. */
  #ask(request: Request): Effect.Effect<Reply> {
    return Effect.uninterruptible(
      Effect.callback((resume) => {
        const refuse = () => answer(closed);
        const answer = (reply: Reply) => {
          this.#worker.off("message", answer).off("exit", refuse);
          resume(Effect.succeed(reply));
        };
        this.#worker.on("message", answer).on("exit", refuse);
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
        this.#worker.postMessage(request);
      }),
    );
  }
}
