/** `SqlClient` for Postgres, on `@effect/sql-pg`. */
import { isTraced } from "@accountlink/core/telemetry";
import { Turns, turnOwner } from "@accountlink/core/turns";
import { PgClient, type PgConnection } from "@effect/sql-pg";
import { Context, Effect, Layer, Pool, Schedule } from "effect";
import { Reactivity } from "effect/reactivity";
import { SqlClient, SqlConnection, type SqlError } from "effect/sql";
import { withStatementSpan } from "../statements/connection_parts.ts";
import { exportMetrics, outageLog } from "./connection_reports.ts";
import { connectionOf, grace, openSession, type PostgresClientOptions, type Session } from "./session.ts";
import { hasNoConnectionLeft, notCommitted, within } from "./sql_error.ts";

/**
 * Connects on demand, so nothing fails before the first statement. `SqlClient` takes a connection for each statement or
 * transaction, in turns of the accounts. `Connection` is for lookups by key: it sends statements before earlier ones are
 * answered, so a statement that waits for a lock would make all later statements of its connection wait.
 */
export const layerPostgresClient = (
  options: PostgresClientOptions,
): Layer.Layer<SqlClient.SqlClient | SqlConnection.Connection> =>
  Layer.effectContext(make(options)).pipe(Layer.provide(Reactivity.layer));

const make = Effect.fnUntraced(function* (options: PostgresClientOptions) {
  const { maxConnections, connectTimeout, statementTimeout } = options;
  /** The connections of statements and transactions. */
  const taken = new Set<Session>();
  const openPool = poolsOf(options, (session) => session.isIdle() && !taken.has(session));
  const mostShared = Math.max(1, Math.floor(maxConnections / 4));
  const mostOwn = Math.max(1, maxConnections - mostShared);
  const shared = yield* openPool(mostShared, true);
  const own = yield* openPool(mostOwn, false);
  // The transactions of one account may wait for each other's locks, and would hold all connections meanwhile.
  const turns = new Turns({
    resource: "database_connections",
    places: mostOwn,
    share: Math.ceil(mostOwn / 2),
  });
  const turn = Effect.flatMap(turnOwner, (owner) => turns.take(owner));
  yield* exportMetrics([shared, own], turns);
  // A connection that was closed a moment ago may still be in the pool.
  const live: SqlConnection.Acquirer = Effect.flatMap(Pool.get(own), (found) =>
    found.socket.destroyed
      ? live
      : Effect.acquireRelease(
          Effect.sync(() => {
            taken.add(found);
            return found;
          }),
          () => Effect.sync(() => taken.delete(found)),
        ),
  );
  const client = yield* SqlClient.make({
    driver: "pg",
    compiler: PgClient.makeCompiler(),
    spanAttributes: [["db.system.name", "postgresql"]],
    acquirer: within(connectTimeout, Effect.andThen(turn, live), "no connection is free"),
    prepareTransactionControls: true,
    // Postgres answers the COMMIT of a failed transaction with ROLLBACK, without an error.
    commit: (used) =>
      Effect.flatMap(used.executeRaw("COMMIT", []), (result) =>
        (result as PgConnection.Result).command === "COMMIT" ? Effect.void : notCommitted,
      ),
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    // A lost connection has no transaction left to roll back.
    isTransaction: (used) => !(used as Session).socket.destroyed,
  });
  const isTracing = yield* isTraced;
  const lookups = connectionOf((text, use) => {
    const sent = Pool.use(shared, (session) => session.run(text, use));
    const answer = within(connectTimeout + statementTimeout + grace, sent, "it does not answer in time");
    return isTracing ? withStatementSpan("postgresql", text, answer) : answer;
  });
  return Context.make(SqlClient.SqlClient, client).pipe(Context.add(SqlConnection.Connection, lookups));
});

/** How often a pool asks for a connection while the server has none left. */
const retryInterval = Schedule.jittered(Schedule.spaced("250 millis"));

const poolsOf = (options: PostgresClientOptions, isFree: (session: Session) => boolean) => {
  const logOutage = outageLog();
  const sessions = new Set<Session>();
  // All connections lead to the same server, so an idle one would fail the next statement as well.
  const endSuspects = () => {
    for (const { isSuspect, socket } of sessions) if (isSuspect()) socket.destroy();
  };
  return Effect.fnUntraced(function* (max: number, isShared: boolean) {
    const runFork = Effect.runForkWith(yield* Effect.context());
    const mine = new Set<Session>();
    /** Gives a pool without any connection the place of a free one of the other pool. */
    const makeRoom = Effect.sync(() => {
      if (mine.size === 0) [...sessions].find(isFree)?.socket.destroy();
    });
    // Until the server has a connection left, statements wait for those that the pool has. Each has its own deadline.
    const opened = Effect.tapError(openSession(options, isShared, endSuspects), (error) =>
      hasNoConnectionLeft(error) ? makeRoom : Effect.void,
    );
    const open = Effect.retry(opened, {
      while: hasNoConnectionLeft,
      schedule: retryInterval,
    });
    const acquire = Effect.map(logOutage(open), (session) => {
      sessions.add(session);
      mine.add(session);
      session.socket.once("close", () => {
        sessions.delete(session);
        mine.delete(session);
        runFork(Pool.invalidate(pool, session));
      });
      return session;
    });
    const pool: Pool.Pool<Session, SqlError.SqlError> = yield* Pool.makeWithTTL({
      acquire,
      min: 0,
      max,
      // How many statements share a connection before another connection is opened.
      concurrency: isShared ? 8 : 1,
      // Replacing the connections distributes them again after a server was added or moved.
      timeToLive: "30 minutes",
      timeToLiveStrategy: "creation",
    });
    return pool;
  });
};
