/**
 * Pooled connections to Postgres. Every lease has a deadline, after which its connection is closed and replaced. So a
 * frozen server or a lost network blocks nobody for long, and leaks no connection.
 */
import { Duration, Effect, Exit, Redacted, type Scope } from "effect";
import type { SqlError } from "effect/sql";
import { type ClientBase, Pool, type PoolClient } from "pg";
import { TransactionTimeout } from "../../statements/dialect.ts";
import type { Rows } from "../../statements/direct_writes.ts";
import type { ParsedPostgresUrl } from "../url.ts";
import { type Answer, ConnectionLease, type Query } from "./connection_lease.ts";
import { exportPoolMetrics, type PoolUsage } from "./pool_metrics.ts";
import { sqlErrorOf } from "./sql_error.ts";
import { integerTypes, type StatementResult } from "./statement_group.ts";

export interface PostgresPoolOptions {
  readonly url: ParsedPostgresUrl;
  readonly maxConnections: number;
  /** How long to wait for a free or new connection. */
  readonly connectTimeout: Duration.Duration;
  /** The maximum duration of a statement, and of a whole transaction. */
  readonly statementTimeout: Duration.Duration;
}

/** Makes a pool that opens connections on demand, and closes them when the scope closes. */
export const makePostgresPool = (
  options: PostgresPoolOptions,
): Effect.Effect<PostgresPool, never, Scope.Scope> =>
  Effect.tap(
    Effect.acquireRelease(
      Effect.sync(() => new PostgresPool(options)),
      (pool) => Effect.promise(() => pool.end()),
    ),
    (pool) => exportPoolMetrics(() => pool.usage),
  );

export class PostgresPool {
  readonly #pool: Pool;
  readonly #statementTimeout: number;
  readonly #connections = new Map<PoolClient, Connection>();
  #deadlines: NodeJS.Timeout | undefined;
  /** The pool replaces connections that were opened before this time, in milliseconds of `performance.now()`. */
  #validFrom = 0;

  constructor(options: PostgresPoolOptions) {
    this.#statementTimeout = Duration.toMillis(options.statementTimeout);
    this.#pool = new Pool({
      ...Redacted.value(options.url.config),
      max: options.maxConnections,
      connectionTimeoutMillis: Duration.toMillis(options.connectTimeout),
      idleTimeoutMillis: 60_000,
      // Replacing the connections every 30 minutes distributes them again after a server was added or moved.
      maxLifetimeSeconds: 1_800,
      fallback_application_name: "accountlink",
      statement_timeout: this.#statementTimeout,
      // A node that is paused within a transaction must not keep its locks.
      idle_in_transaction_session_timeout: this.#statementTimeout,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      types: { getTypeParser: parserOf },
      // oxlint-disable-next-line typescript/no-misused-promises -- The pool awaits it.
      onConnect: refuseReplicaWithin(Duration.toMillis(options.connectTimeout) / 2),
    });
    // Ignore these errors: the pool replaces an idle connection that fails, and an error of a leased connection fails
    // its statement.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => {
      this.#connections.set(client, { openedAt: performance.now(), lease: undefined });
      client.on("error", () => {});
    });
    this.#pool.on("remove", (client) => this.#connections.delete(client));
  }

  readonly lease: Effect.Effect<ConnectionLease, SqlError.SqlError, Scope.Scope> = Effect.acquireRelease(
    Effect.flatMap(TransactionTimeout, (timeout) =>
      Effect.callback<ConnectionLease, SqlError.SqlError>((resume) =>
        this.#connect(timeout ?? this.#statementTimeout, (lease) =>
          resume(lease instanceof ConnectionLease ? Effect.succeed(lease) : Effect.fail(lease)),
        ),
      ),
    ),
    (lease) => Effect.sync(() => lease.release()),
    { interruptible: true },
  );

  run(query: Query): Effect.Effect<StatementResult, SqlError.SqlError> {
    return Effect.callback((resume) =>
      this.#connect(this.#statementTimeout, (lease) => {
        if (!(lease instanceof ConnectionLease)) return resume(Effect.fail(lease));
        // Ignore the returned effect, which cancels a statement that is still queued. This statement is sent at once,
        // because the lease is new.
        void lease.submit(query, resume);
        lease.release();
      }),
    );
  }

  /**
   * Runs the statements in one transaction, and sends COMMIT only after the server has answered all of them. So if this
   * client gives up before then, the server commits none of them.
   */
  transaction(statements: ReadonlyArray<Query>): Effect.Effect<ReadonlyArray<Rows>, SqlError.SqlError> {
    return Effect.callback((resume) =>
      this.#connect(this.#statementTimeout, (lease) => {
        if (!(lease instanceof ConnectionLease)) return resume(Effect.fail(lease));
        const results: Array<Rows> = [];
        const end = (
          text: "COMMIT" | "ROLLBACK",
          outcomeOf: (ended: Answer) => Exit.Exit<ReadonlyArray<Rows>, SqlError.SqlError>,
        ) => {
          void lease.submit({ text, values: [], isPrepared: true }, (ended) => resume(outcomeOf(ended)));
          lease.release();
        };
        const sendNext = (): void => {
          const statement = statements[results.length];
          if (statement === undefined) return end("COMMIT", (ended) => Exit.map(ended, () => results));
          void lease.submit(statement, (answer) => {
            if (Exit.isFailure(answer)) return end("ROLLBACK", () => Exit.failCause(answer.cause));
            results.push(answer.value.rows as Rows);
            sendNext();
          });
        };
        lease.begin();
        sendNext();
      }),
    );
  }

  get usage(): PoolUsage {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /** Closes all connections once their leases end. */
  async end(): Promise<void> {
    await this.#pool.end();
    // Destroy the sockets, because a server that is gone does not answer the termination message.
    for (const { connection } of this.#connections.keys()) connection.stream.destroy();
  }

  /** Calls back with a lease or an error. The returned effect cancels the wait for a connection. */
  #connect(
    timeout: number,
    callback: (result: ConnectionLease | SqlError.SqlError) => void,
  ): Effect.Effect<void> {
    let isInterrupted = false;
    const connect = () =>
      this.#pool.connect((error, client, release) => {
        if (client === undefined) return callback(sqlErrorOf(error));
        if (isInterrupted) return release();
        const connection = this.#connections.get(client);
        if (connection !== undefined && connection.openedAt >= this.#validFrom) {
          return callback(this.#makeLease(client, connection, release, timeout));
        }
        client.connection.stream.destroy();
        release(true);
        connect();
      });
    connect();
    return Effect.sync(() => {
      isInterrupted = true;
    });
  }

  #makeLease(
    client: PoolClient,
    connection: Connection,
    release: (destroy?: boolean) => void,
    timeout: number,
  ): ConnectionLease {
    const lease = new ConnectionLease({
      client,
      timeout,
      onUnresponsive: () => {
        // All connections lead to the same unresponsive server. So replace the idle connections, and abort the leases
        // whose running statement is not answered soon.
        this.#validFrom = performance.now();
        for (const { lease: other } of this.#connections.values()) {
          // Do not abort leases with a longer timeout, because their statements may run for a long time.
          if (other?.timeout === this.#statementTimeout) other.abortUnlessAnswered();
        }
      },
      onRelease: (isReusable) => {
        connection.lease = undefined;
        release(!isReusable);
      },
    });
    connection.lease = lease;
    this.#deadlines ??= setInterval(() => this.#endExpired(), deadlineInterval);
    return lease;
  }

  /** One timer for all leases: a timer per lease would cost as much as the statement. */
  #endExpired(): void {
    const leases = [...this.#connections.values()].flatMap(({ lease }) => lease ?? []);
    if (leases.length === 0) {
      clearInterval(this.#deadlines);
      this.#deadlines = undefined;
    }
    // After a pause of this process, answers may have arrived that were not read yet. So let the process read these
    // answers before the leases expire.
    const expired = leases.filter(({ expiresAt }) => expiresAt <= performance.now());
    if (expired.length === 0) return;
    setImmediate(() => {
      for (const lease of expired) lease.expire();
    });
  }
}

interface Connection {
  readonly openedAt: number;
  lease: ConnectionLease | undefined;
}

/** How often deadlines are checked, in milliseconds. */
const deadlineInterval = 50;

/**
 * Refuses a replica, because its answers are stale. During a failover, the address of the server may still point to a
 * replica.
 *
 * @param timeout in milliseconds
 */
const refuseReplicaWithin =
  (timeout: number) =>
  async (client: ClientBase): Promise<void> => {
    try {
      const query = { text: "SELECT pg_is_in_recovery()::text AS replica", query_timeout: timeout };
      const { rows } = await client.query<{ readonly replica: string }>(query);
      if (rows[0]?.replica === "true") throw Object.assign(new Error("a replica"), { code: "25006" });
    } catch (error) {
      // Destroys the socket, since the pool would wait for the server's answer to a normal close.
      (client as PoolClient).connection.stream.destroy();
      throw error;
    }
  };

/** Converts integers to numbers, like `StatementGroup`. */
const parserOf = (oid: number): ((text: string) => unknown) =>
  integerTypes.has(oid) ? Number : (text) => text;
