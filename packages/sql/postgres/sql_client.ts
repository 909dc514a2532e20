/** `SqlClient` for Postgres, on `@effect/sql-pg`. */
import { isTraced, readMetric } from "@accountlink/core/telemetry";
import { PgClient, type PgConnection } from "@effect/sql-pg";
import { Context, Duration, Effect, Layer, Metric, Pool, type Scope } from "effect";
import { Reactivity } from "effect/reactivity";
import { SqlClient, SqlConnection, SqlError } from "effect/sql";
import { withStatementSpan } from "../statements/statement_span.ts";
import { connectionOf, grace, openSession, type Session, type SessionOptions } from "./session.ts";
import { connectionError } from "./sql_error.ts";

export interface PostgresPoolOptions extends SessionOptions {
  /** The maximum number of connections; at least 2 are used. */
  readonly maxConnections: number;
}

/**
 * Connects on demand, so nothing fails before the first statement.
 *
 * `SqlClient` takes a connection for each statement or transaction. `Connection` shares connections between statements
 * that are sent before earlier ones are answered, so it is for lookups by key: a statement that waits for a lock would
 * make all later statements of its connection wait.
 */
export const layerPostgresClient = (
  options: PostgresPoolOptions,
): Layer.Layer<SqlClient.SqlClient | SqlConnection.Connection> =>
  Layer.effectContext(make(options)).pipe(Layer.provide(Reactivity.layer));

const make = Effect.fnUntraced(function* (options: PostgresPoolOptions) {
  const { maxConnections, connectTimeout, statementTimeout } = options;
  const poolOf = poolMaker(options);
  const mostShared = Math.max(1, Math.floor(maxConnections / 4));
  const shared = yield* poolOf(mostShared, true);
  const own = yield* poolOf(Math.max(1, maxConnections - mostShared), false);
  yield* exportMetrics([shared, own]);
  const connection = Effect.timeoutOrElse(openIn(own), {
    duration: connectTimeout,
    orElse: () => Effect.fail(connectionError("no connection is free")),
  });
  const client = yield* SqlClient.make({
    driver: "pg",
    compiler: PgClient.makeCompiler(),
    spanAttributes: [["db.system.name", "postgresql"]],
    acquirer: connection,
    transactionAcquirer: connection,
    prepareTransactionControls: true,
    commit: commitOn,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    // A lost connection has no transaction left to roll back.
    isTransaction: (used) => !(used as Session).isClosed(),
  });
  const patience = Duration.sum(Duration.sum(connectTimeout, statementTimeout), Duration.millis(grace));
  const isTracing = yield* isTraced;
  const lookups = connectionOf((text, use) => {
    const answer = Effect.timeoutOrElse(
      Pool.use(shared, (session) => session.run(text, use)),
      { duration: patience, orElse: () => Effect.fail(connectionError("it does not answer in time")) },
    );
    return isTracing ? withStatementSpan("postgresql", text, answer) : answer;
  });
  return Context.make(SqlClient.SqlClient, client).pipe(Context.add(SqlConnection.Connection, lookups));
});

type SessionPool = Pool.Pool<Session, SqlError.SqlError>;

/** Takes a connection, but none that was closed a moment ago. */
const openIn = (pool: SessionPool): Effect.Effect<Session, SqlError.SqlError, Scope.Scope> =>
  Effect.flatMap(Pool.get(pool), (session) =>
    session.isClosed()
      ? Effect.andThen(Pool.invalidate(pool, session), openIn(pool))
      : Effect.succeed(session),
  );

const poolMaker = (options: SessionOptions) => {
  const logOutage = outageLog();
  const sessions = new Set<Session>();
  // All connections lead to the same server, so an idle one would fail the next statement as well.
  const onUnresponsive = () => {
    for (const session of sessions) session.endIfIdle();
  };
  return Effect.fnUntraced(function* (max: number, isShared: boolean) {
    const runFork = Effect.runForkWith(yield* Effect.context());
    const keep = (session: Session) =>
      Effect.sync(() => {
        sessions.add(session);
        session.onClose(() => {
          sessions.delete(session);
          runFork(Pool.invalidate(pool, session));
        });
      });
    const pool: SessionPool = yield* Pool.makeWithTTL({
      acquire: Effect.tap(logOutage(openSession({ ...options, isShared, onUnresponsive })), keep),
      min: 0,
      max,
      concurrency: isShared ? statementsAtOnce : 1,
      // Replacing the connections distributes them again after a server was added or moved.
      timeToLive: "30 minutes",
      timeToLiveStrategy: "creation",
    });
    return pool;
  });
};

/** How many statements share a connection before another connection is opened. */
const statementsAtOnce = 8;

/** Logs the start and the end of an outage once, as Redis does. */
const outageLog = () => {
  let hasConnected = false;
  let isLost = false;
  return <A, R>(open: Effect.Effect<A, SqlError.SqlError, R>): Effect.Effect<A, SqlError.SqlError, R> =>
    open.pipe(
      Effect.tapError(({ message }) => {
        if (isLost || !hasConnected) return Effect.void;
        isLost = true;
        return Effect.annotateLogs(Effect.logWarning("Postgres cannot be reached"), { reason: message });
      }),
      Effect.tap(() => {
        hasConnected = true;
        if (!isLost) return Effect.void;
        isLost = false;
        return Effect.logInfo("Postgres is reachable again");
      }),
    );
};

/** Postgres answers the COMMIT of a failed transaction with ROLLBACK, without an error. */
const commitOn = Effect.fnUntraced(function* (connection: SqlConnection.Connection) {
  const { command } = (yield* connection.executeRaw("COMMIT", [])) as PgConnection.Result;
  if (command === "COMMIT") return;
  const message = "Cannot commit: a statement of the transaction had failed";
  return yield* new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: undefined, message }) });
});

const connections = Metric.gauge("accountlink_database_connections", {
  description: "Connections of this process to the database",
});

const waiting = Metric.gauge("accountlink_database_waiting", {
  description: "Statements and transactions that wait for a connection",
});

const exportMetrics = (pools: ReadonlyArray<SessionPool>) => {
  const sumOf = (name: "used" | "idle" | "pending") => () => ({
    value: pools.reduce((sum, pool) => sum + Effect.runSync(Pool.stats(pool))[name], 0),
  });
  return Effect.all(
    [
      readMetric(Metric.withAttributes(connections, { state: "in_use" }), sumOf("used")),
      readMetric(Metric.withAttributes(connections, { state: "idle" }), sumOf("idle")),
      readMetric(waiting, sumOf("pending")),
    ],
    { discard: true },
  );
};
