/** One connection to Postgres. It ends when the server does not answer in time. */
import { connect, type Socket } from "node:net";
import { PgConnection, PgTypes } from "@effect/sql-pg";
import { Duration, Effect, Exit, Result, type Scope, Stream } from "effect";
import { SqlConnection, type SqlError } from "effect/sql";
import { TransactionTimeout } from "../statements/dialect.ts";
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
  const session = new Session(connection, sockets[0] as Socket, options);
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

type TransformRows = <A extends object>(rows: ReadonlyArray<A>) => ReadonlyArray<A>;

export class Session implements SqlConnection.Connection {
  readonly #connection: PgConnection.PgConnection;
  readonly #socket: Socket;
  readonly #timeout: number;
  readonly #isShared: boolean;
  readonly #onUnresponsive: () => void;
  #unanswered = 0;
  /** When the oldest unanswered statement became the next to be answered. */
  #waitsSince = 0;
  #limit = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(connection: PgConnection.PgConnection, socket: Socket, options: OpenOptions) {
    this.#connection = connection;
    this.#socket = socket;
    this.#timeout = Duration.toMillis(options.statementTimeout);
    this.#isShared = options.isShared;
    this.#onUnresponsive = options.onUnresponsive;
  }

  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  /** Closes the connection unless it waits for an answer. */
  endIfIdle(): void {
    if (this.#unanswered === 0) this.#socket.destroy();
  }

  onClose(listener: () => void): void {
    this.#socket.once("close", listener);
  }

  execute(text: string, params: ReadonlyArray<unknown>, transformRows: TransformRows | undefined) {
    return this.#rows(text, params, transformRows, true);
  }

  executeRaw(text: string, params: ReadonlyArray<unknown>) {
    return this.#watch(this.#connection.query(text, parametersOf(params)));
  }

  executeValues(text: string, params: ReadonlyArray<unknown>) {
    return this.#watch(this.#connection.queryValues(text, parametersOf(params)));
  }

  executeUnprepared(text: string, params: ReadonlyArray<unknown>, transformRows: TransformRows | undefined) {
    return this.#rows(text, params, transformRows, false);
  }

  executeValuesUnprepared(text: string, params: ReadonlyArray<unknown>) {
    return this.#watch(this.#connection.queryValues(text, parametersOf(params), false));
  }

  executeStream(text: string, params: ReadonlyArray<unknown>) {
    return Stream.mapError(this.#connection.stream(text, parametersOf(params)), sqlErrorOf);
  }

  #rows(
    text: string,
    params: ReadonlyArray<unknown>,
    transformRows: TransformRows | undefined,
    isPrepared: boolean,
  ) {
    const query = this.#connection.query(text, parametersOf(params), isPrepared);
    // A transaction with a long timeout also fails soon if the server does not answer when it begins.
    const result = this.#watch(query, text === "BEGIN");
    return Effect.map(result, ({ rows }) => (transformRows === undefined ? rows : transformRows(rows)));
  }

  #watch<A>(
    statement: Effect.Effect<A, SqlError.SqlError>,
    isQuick = false,
  ): Effect.Effect<A, SqlError.SqlError> {
    return Effect.withFiber((fiber) => {
      const timeout = (isQuick ? null : fiber.getRef(TransactionTimeout)) ?? this.#timeout;
      if (this.#unanswered++ === 0) this.#waitFor(timeout + grace);
      return Effect.onExitPrimitive(
        Effect.mapError(statement, (error) => {
          if (endsConnection(error)) this.#socket.destroy();
          return sqlErrorOf(error);
        }),
        (exit) => {
          // The server may cancel the next statement instead, if it had already answered this one.
          if (!this.#isShared && Exit.hasInterrupts(exit)) this.#socket.destroy();
          this.#unanswered--;
          this.#waitsSince = performance.now();
          return undefined;
        },
      );
    });
  }

  #waitFor(limit: number): void {
    this.#waitsSince = performance.now();
    // The timer of an earlier statement with a longer limit would fire too late.
    if (limit < this.#limit) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    this.#limit = limit;
    if (this.#timer === undefined) this.#schedule(limit);
  }

  /** One timer for all statements: a timer for each would cost more. */
  #schedule(delay: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#unanswered === 0) return;
      const left = this.#waitsSince + this.#limit - performance.now();
      if (left > 0) this.#schedule(left);
      // After a pause of this process, answers may have arrived that were not read yet.
      else setImmediate(() => this.#endUnlessAnswered());
    }, delay).unref();
  }

  #endUnlessAnswered(): void {
    if (this.#unanswered === 0) return;
    if (performance.now() - this.#waitsSince < this.#limit) return this.#schedule(this.#limit);
    this.#socket.destroy();
    this.#onUnresponsive();
  }
}
