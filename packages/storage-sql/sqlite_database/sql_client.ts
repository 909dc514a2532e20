import { Context, Effect, Semaphore, Stream } from "effect";
import { Reactivity } from "effect/reactivity";
import { SqlClient, SqlConnection, SqlError, Statement } from "effect/sql";
import { sqlErrorOf } from "./sql_error.ts";
import type { ExecuteSqlite, SqliteDatabase, SqliteResult, SqliteValue } from "./sqlite_database.ts";

type TransformRows = <A extends object>(rows: ReadonlyArray<A>) => ReadonlyArray<A>;

/** A statement that the transaction of the port stands for. */
const begin = "BEGIN IMMEDIATE";

export const makeSqlClient = Effect.fnUntraced(function* (db: SqliteDatabase) {
  // Writers of one process wait here for each other, not in the database.
  const writing = Semaphore.makeUnsafe(1);
  const shared = connectionOf((sql, params) => {
    const run = asking(() => db.execute(sql, params));
    return isRead(sql) ? run : writing.withPermits(1)(run);
  });

  const transaction = Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      yield* restore(writing.takeScoped(1));
      const open = yield* asking(() => db.begin());
      let isOver = false;
      const over = (ending: () => Promise<void>) =>
        Effect.tap(asking(ending), () =>
          Effect.sync(() => {
            isOver = true;
          }),
        );
      yield* Effect.addFinalizer(() => (isOver ? Effect.void : Effect.ignore(asking(open.rollback))));
      return connectionOf((sql, params) => {
        if (sql === begin) return Effect.succeed(nothing);
        if (sql === "COMMIT") return Effect.as(over(open.commit), nothing);
        if (sql === "ROLLBACK") return Effect.as(over(open.rollback), nothing);
        // A rollback must not overtake it.
        return Effect.uninterruptible(asking(() => open.execute(sql, params)));
      });
    }),
  );

  const client = yield* SqlClient.make({
    driver: "sqlite-database",
    compiler: Statement.makeCompilerSqlite(),
    spanAttributes: [["db.system.name", "sqlite"]],
    acquirer: Effect.succeed(shared),
    transactionAcquirer: transaction,
    beginTransaction: begin,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
  }).pipe(Effect.provide(Reactivity.layer));
  return Context.make(SqlClient.SqlClient, client).pipe(Context.add(SqlConnection.Connection, shared));
});

const nothing: SqliteResult = { rows: [], changes: 0 };

const isRead = (sql: string): boolean => /^\s*(?:SELECT|PRAGMA)\b/i.test(sql);

const asking = <A>(call: () => Promise<A>): Effect.Effect<A, SqlError.SqlError> =>
  Effect.tryPromise({ try: call, catch: sqlErrorOf });

type Run = (
  sql: string,
  params: ReadonlyArray<SqliteValue>,
) => Effect.Effect<Awaited<ReturnType<ExecuteSqlite>>, SqlError.SqlError>;

const connectionOf = (runTyped: Run): SqlConnection.Connection => {
  const run = (sql: string, params: ReadonlyArray<unknown>) =>
    runTyped(sql, params as ReadonlyArray<SqliteValue>);
  const execute = (sql: string, params: ReadonlyArray<unknown>, transformRows: TransformRows | undefined) =>
    Effect.map(run(sql, params), ({ rows }) => (transformRows === undefined ? rows : transformRows(rows)));
  const executeValues = (sql: string, params: ReadonlyArray<unknown>) =>
    Effect.map(run(sql, params), ({ rows }) => rows.map((row) => Object.values(row)));
  return {
    execute,
    executeUnprepared: execute,
    executeRaw: run,
    executeValues,
    executeValuesUnprepared: executeValues,
    executeStream: () => Stream.fail(streamRefused()),
  };
};

const streamRefused = (): SqlError.SqlError => {
  const message = "Cannot stream rows, expected pages by key";
  return new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: undefined, message }) });
};
