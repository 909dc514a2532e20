/** One connection to Postgres. It ends when the server does not answer in time. */
import { connect, type Socket } from "node:net";
import { PgConnection } from "@effect/sql-pg";
import { Effect, Exit } from "effect";
import type { SqlConnection, SqlError } from "effect/sql";
import { streamRefused } from "../statements/connection_parts.ts";
import { TransactionTimeout } from "../statements/dialect.ts";
import { integersAsNumbers, numbersAsText } from "./numbers.ts";
import { endsConnection, readOnlyReplica, sqlErrorOf, within } from "./sql_error.ts";
import type { ParsedPostgresUrl } from "./url.ts";

/** The options of `PostgresOptions`, with timeouts in milliseconds. */
export interface PostgresClientOptions {
  readonly url: ParsedPostgresUrl;
  readonly maxConnections: number;
  readonly connectTimeout: number;
  readonly statementTimeout: number;
}

export interface Session extends SqlConnection.Connection {
  readonly run: Run;
  readonly socket: Socket;
  /** Whether no statement waits for an answer. */
  readonly isIdle: () => boolean;
  /** Whether this connection is idle, or has had no answer for so long that it is lost if another one is silent. */
  readonly isSuspect: () => boolean;
}

/** How long the timer outlasts the deadline of a statement, in milliseconds, since it may fire a little early. */
export const grace = 250;

/**
 * Connects, and refuses a replica, because its answers are stale. During a failover, the address of the server may
 * still lead to a replica.
 *
 * @param isShared whether several statements may be sent before the first is answered
 */
export const openSession = Effect.fnUntraced(function* (
  { url, connectTimeout, statementTimeout }: PostgresClientOptions,
  isShared: boolean,
  onSilent: () => void,
) {
  let socket!: Socket;
  const connection = yield* PgConnection.make({
    url: url.url,
    ssl: url.ssl,
    connectTimeout,
    multiplex: isShared,
    preparedStatementCacheSize: 500,
    types: integersAsNumbers,
    applicationName: url.applicationName,
    startupParameters: {
      statement_timeout: `${statementTimeout}`,
      // A little longer than the second after which Postgres looks for deadlocks: a deadlock that came as a lock timeout
      // would not be repeated. Requests wait as long for an earlier one with the same idempotency key.
      lock_timeout: `${Math.round(statementTimeout * 0.75)}`,
      // A node that is paused within a transaction must not keep its locks.
      idle_in_transaction_session_timeout: `${statementTimeout}`,
    },
    stream: () => {
      socket = connect({ ...url.address, noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 });
      return socket;
    },
  }).pipe(Effect.mapError(sqlErrorOf));
  let [waiting, limit, deadline, answeredAt] = [0, 0, 0, 0];
  const endIfSilent = () => {
    if (waiting === 0) return;
    if (performance.now() < deadline) return void timer.refresh();
    socket.destroy();
    onSilent();
  };
  // After a pause of this process, answers that have arrived are read before setImmediate calls back.
  const timer = setTimeout(() => setImmediate(endIfSilent), statementTimeout + grace).unref();
  const awaitAnswer = () => {
    deadline = performance.now() + limit;
    timer.refresh();
  };

  const run: Run = (text, use) =>
    Effect.withFiber((fiber) => {
      // A transaction with a long timeout also fails soon if the server does not answer when it begins.
      limit = (text === "BEGIN" ? null : fiber.getRef(TransactionTimeout)) ?? statementTimeout;
      if (waiting++ === 0) awaitAnswer();
      const answer = Effect.mapError(use(connection), (error) => {
        if (endsConnection(error)) socket.destroy();
        return sqlErrorOf(error);
      });
      return Effect.onExitPrimitive(answer, (exit) => {
        waiting--;
        // The server may cancel the next statement instead, if it had already answered this one.
        if (Exit.hasInterrupts(exit)) return isShared ? undefined : void socket.destroy();
        answeredAt = performance.now();
        awaitAnswer();
        return undefined;
      });
    });

  const isIdle = () => waiting === 0;
  const isSuspect = () => waiting === 0 || answeredAt + limit < performance.now();
  const check = run("", (to) => to.query("SELECT current_setting('transaction_read_only') AS it", []));
  const { rows } = yield* within(connectTimeout, check, "it does not answer in time");
  return rows[0]?.["it"] === "on"
    ? yield* readOnlyReplica
    : { ...connectionOf(run), run, socket, isIdle, isSuspect };
});

type Use<A> = (connection: PgConnection.PgConnection) => Effect.Effect<A, SqlError.SqlError>;
type Run = <A>(text: string, use: Use<A>) => Effect.Effect<A, SqlError.SqlError>;

/** Runs statements on the connection that `run` chooses. */
export const connectionOf = (run: Run): SqlConnection.Connection => {
  const executeRaw = (text: string, params: ReadonlyArray<unknown>) =>
    run(text, (connection) => connection.query(text, numbersAsText(params)));
  const execute: SqlConnection.Connection["execute"] = (text, params, transform) =>
    Effect.map(executeRaw(text, params), ({ rows }) => (transform === undefined ? rows : transform(rows)));
  const executeValues: SqlConnection.Connection["executeValues"] = (text, params) =>
    run(text, (connection) => connection.queryValues(text, numbersAsText(params)));
  const unprepared = { executeUnprepared: execute, executeValuesUnprepared: executeValues };
  return { execute, executeRaw, executeValues, ...unprepared, executeStream: () => streamRefused };
};
