/** One connection to Postgres. It ends when the server does not answer in time. */
import { connect, type Socket } from "node:net";
import { PgConnection, PgTypes } from "@effect/sql-pg";
import { Duration, Effect, Exit, Result, type Scope } from "effect";
import type { SqlConnection, SqlError } from "effect/sql";
import { TransactionTimeout } from "../statements/dialect.ts";
import { streamRefused } from "../statements/stream_refused.ts";
import { endsConnection, readOnlyReplica, sqlErrorOf } from "./sql_error.ts";
import type { ParsedPostgresUrl } from "./url.ts";

export interface SessionOptions {
  readonly url: ParsedPostgresUrl;
  /** How long to wait for a free or new connection. */
  readonly connectTimeout: Duration.Duration;
  /** The maximum duration of a statement, and of a pause between the statements of a transaction. */
  readonly statementTimeout: Duration.Duration;
}

interface OpenOptions extends SessionOptions {
  /** Whether several statements may be sent before the first is answered. */
  readonly isShared: boolean;
  /** Called when the connection ends because a statement got no answer in time. */
  readonly onUnresponsive: () => void;
}

/** How long the client waits beyond the server's timeout before it gives up on a statement, in milliseconds. */
export const grace = 250;

/**
 * Connects, and refuses a replica, because its answers are stale. During a failover, the address of the server may
 * still lead to a replica.
 */
export const openSession = Effect.fnUntraced(function* (
  options: OpenOptions,
): Effect.fn.Return<Session, SqlError.SqlError, Scope.Scope> {
  const { url, connectTimeout, isShared } = options;
  const timeout = Duration.toMillis(options.statementTimeout);
  const address = { ...url.address, noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 };
  const sockets: Array<Socket> = [];
  const connection = yield* PgConnection.make({
    url: url.url,
    ssl: url.ssl,
    connectTimeout,
    multiplex: isShared,
    preparedStatementCacheSize: 500,
    types: integersAsNumbers,
    applicationName: "accountlink",
    startupParameters: {
      statement_timeout: `${timeout}`,
      // By default a second: how long a request waits for an earlier one with the same idempotency key.
      lock_timeout: `${Math.round(timeout / 1.5)}`,
      // A node that is paused within a transaction must not keep its locks.
      idle_in_transaction_session_timeout: `${timeout}`,
    },
    stream: () => {
      const socket = connect(address);
      sockets.push(socket);
      return socket;
    },
  }).pipe(Effect.mapError(sqlErrorOf));
  const session = watched(connection, sockets[0] as Socket, options);
  const check = session.execute(
    "SELECT current_setting('transaction_read_only') AS read_only",
    [],
    undefined,
  );
  const [found] = yield* Effect.provideService(check, TransactionTimeout, Duration.toMillis(connectTimeout));
  if (found?.["read_only"] === "on") return yield* readOnlyReplica;
  return session;
});

const int8 = 20;

/** Integers beyond `Number.MAX_SAFE_INTEGER` become inexact numbers, which the code that reads the row refuses. */
const integersAsNumbers = PgTypes.makeRegistry();
integersAsNumbers.register<number>(int8, {
  decode: (bytes) => Result.succeed(numberAt(bytes, 0)),
  read: (bytes, offset) => Result.succeed(numberAt(bytes, offset)),
  encode: (value) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64BE(BigInt(value));
    return Result.succeed(bytes);
  },
});

const numberAt = (bytes: Uint8Array, offset: number): number => {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, 8);
  return view.getInt32(0) * 2 ** 32 + view.getUint32(4);
};

/** Sends numbers as text, so that Postgres takes their type from the statement, not from the size of the number. */
const parametersOf = (params: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  params.map((value) => (typeof value === "number" || typeof value === "bigint" ? `${value}` : value));

type Run = <A>(
  text: string,
  use: (connection: PgConnection.PgConnection) => Effect.Effect<A, SqlError.SqlError>,
) => Effect.Effect<A, SqlError.SqlError>;

/** Runs statements on the connection that `run` chooses. */
export const connectionOf = (run: Run): SqlConnection.Connection => {
  const rows =
    (isPrepared: boolean): SqlConnection.Connection["execute"] =>
    (text, params, transform) =>
      Effect.map(
        run(text, (connection) => connection.query(text, parametersOf(params), isPrepared)),
        (result) => (transform === undefined ? result.rows : transform(result.rows)),
      );
  const values =
    (isPrepared: boolean): SqlConnection.Connection["executeValues"] =>
    (text, params) =>
      run(text, (connection) => connection.queryValues(text, parametersOf(params), isPrepared));
  return {
    execute: rows(true),
    executeUnprepared: rows(false),
    executeRaw: (text, params) => run(text, (connection) => connection.query(text, parametersOf(params))),
    executeValues: values(true),
    executeValuesUnprepared: values(false),
    executeStream: () => streamRefused,
  };
};

export interface Session extends SqlConnection.Connection {
  readonly run: Run;
  readonly isClosed: () => boolean;
  /** Closes the connection unless it waits for an answer. */
  readonly endIfIdle: () => void;
  readonly onClose: (listener: () => void) => void;
}

/** Ends the connection when a statement gets no answer in time. */
const watched = (connection: PgConnection.PgConnection, socket: Socket, options: OpenOptions): Session => {
  const { isShared, onUnresponsive } = options;
  const statementTimeout = Duration.toMillis(options.statementTimeout);
  let unanswered = 0;
  /** When the oldest unanswered statement became the next to be answered. */
  let waitsSince = 0;
  let limit = 0;
  let timer: NodeJS.Timeout | undefined;

  const endUnlessAnswered = (): void => {
    if (unanswered === 0) return;
    if (performance.now() - waitsSince < limit) return schedule(limit);
    socket.destroy();
    onUnresponsive();
  };

  /** One timer for all statements: a timer for each would cost more. */
  const schedule = (delay: number): void => {
    timer = setTimeout(() => {
      timer = undefined;
      if (unanswered === 0) return;
      const left = waitsSince + limit - performance.now();
      if (left > 0) schedule(left);
      // After a pause of this process, answers may have arrived that were not read yet.
      else setImmediate(endUnlessAnswered);
    }, delay).unref();
  };

  const beginWaiting = (longest: number): void => {
    waitsSince = performance.now();
    // The timer of an earlier statement with a longer limit would fire too late.
    if (longest < limit) {
      clearTimeout(timer);
      timer = undefined;
    }
    limit = longest;
    if (timer === undefined) schedule(limit);
  };

  const run: Run = (text, use) =>
    Effect.withFiber((fiber) => {
      // A transaction with a long timeout also fails soon if the server does not answer when it begins.
      const timeout = (text === "BEGIN" ? null : fiber.getRef(TransactionTimeout)) ?? statementTimeout;
      if (unanswered++ === 0) beginWaiting(timeout + grace);
      return Effect.onExitPrimitive(
        Effect.mapError(use(connection), (error) => {
          if (endsConnection(error)) socket.destroy();
          return sqlErrorOf(error);
        }),
        (exit) => {
          // The server may cancel the next statement instead, if it had already answered this one.
          if (!isShared && Exit.hasInterrupts(exit)) socket.destroy();
          unanswered--;
          waitsSince = performance.now();
          return undefined;
        },
      );
    });

  return {
    ...connectionOf(run),
    run,
    isClosed: () => socket.destroyed,
    endIfIdle: () => {
      if (unanswered === 0) socket.destroy();
    },
    onClose: (listener) => socket.once("close", listener),
  };
};
