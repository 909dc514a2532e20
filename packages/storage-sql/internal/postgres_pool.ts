/**
 * Connections to Postgres and their loans. A loan has a deadline: who has not given the connection back by then loses
 * it, whatever it is waiting for. So nobody waits for long on a server that is frozen or a network that is gone, and no
 * connection is lost to a pool that lends it out for ever.
 */
import { Duration, Effect, Redacted, type Scope } from "effect";
import type { SqlError } from "effect/sql";
import { type ClientBase, Pool, type PoolClient, type QueryResult } from "pg";
import { exportPoolUse, type PoolUse } from "../pool_metrics.ts";
import { Patience } from "./patience.ts";
import { sqlErrorOf } from "./postgres_error.ts";
import { Loan, type Query } from "./postgres_loan.ts";
import type { PostgresPlace } from "./postgres_url.ts";

/** Where the database is and how long anything may take. */
export interface PostgresPoolOptions {
  readonly place: PostgresPlace;
  /** How many connections there are at most. */
  readonly maxConnections: number;
  /** How long to wait for a connection, be it a new one or one that is given back. */
  readonly connectTimeout: Duration.Duration;
  /** How long a statement may take, and a whole transaction. */
  readonly statementTimeout: Duration.Duration;
}

/** Makes connections as they are needed, and closes them with the scope. */
export const makePostgresPool = (
  options: PostgresPoolOptions,
): Effect.Effect<PostgresPool, never, Scope.Scope> =>
  Effect.tap(
    Effect.acquireRelease(
      Effect.sync(() => new PostgresPool(options)),
      (pool) => Effect.promise(() => pool.end()),
    ),
    (pool) => exportPoolUse(() => pool.use),
  );

/** Connections that are lent one at a time. */
export class PostgresPool {
  readonly #pool: Pool;
  readonly #statementTimeout: number;
  readonly #openedAt = new Map<PoolClient, number>();
  readonly #loans = new Set<Loan>();
  /** Connections that are older are not to be trusted. */
  #trustedFrom = 0;

  constructor(options: PostgresPoolOptions) {
    this.#statementTimeout = Duration.toMillis(options.statementTimeout);
    this.#pool = new Pool({
      ...Redacted.value(options.place.config),
      max: options.maxConnections,
      connectionTimeoutMillis: Duration.toMillis(options.connectTimeout),
      idleTimeoutMillis: 60_000,
      // So that, some time after a server was added or moved, its share of the connections is with it.
      maxLifetimeSeconds: 1_800,
      fallback_application_name: "accountlink",
      statement_timeout: this.#statementTimeout,
      // A node that stands still in a transaction must not keep others from what it has locked.
      idle_in_transaction_session_timeout: this.#statementTimeout,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      types: { getTypeParser: parserOf },
      // oxlint-disable-next-line typescript/no-misused-promises -- The pool waits for it, whatever its types say.
      onConnect: refuseReplica,
    });
    // What befalls a connection is told to its user; one without a user is replaced.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => {
      this.#openedAt.set(client, performance.now());
      client.on("error", () => {});
    });
    this.#pool.on("remove", (client) => this.#openedAt.delete(client));
  }

  /** A connection until the scope closes. */
  readonly lease: Effect.Effect<Loan, SqlError.SqlError, Scope.Scope> = Effect.acquireRelease(
    Effect.flatMap(Patience, (patience) => this.#lend(patience ?? this.#statementTimeout)),
    (loan) => Effect.sync(() => loan.end()),
    { interruptible: true },
  );

  /** Runs one statement on a connection of its own. */
  run(query: Query): Effect.Effect<QueryResult, SqlError.SqlError> {
    return Effect.flatMap(this.#lend(this.#statementTimeout), (loan) =>
      Effect.ensuring(
        loan.run(query),
        Effect.sync(() => loan.end()),
      ),
    );
  }

  get use(): PoolUse {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /** Waits for what is lent and closes everything. */
  async end(): Promise<void> {
    await this.#pool.end();
    // Those that say goodbye to a server that is gone keep nobody waiting.
    for (const { connection } of this.#openedAt.keys()) connection.stream.destroy();
  }

  #lend(patience: number): Effect.Effect<Loan, SqlError.SqlError> {
    return Effect.callback((resume) => {
      let isWanted = true;
      const ask = () =>
        this.#pool.connect((error, client, release) => {
          if (client === undefined) resume(Effect.fail(sqlErrorOf(error)));
          else if (!isWanted) release();
          else if (this.#isTrusted(client)) resume(Effect.succeed(this.#makeLoan(client, release, patience)));
          else {
            client.connection.stream.destroy();
            release(true);
            ask();
          }
        });
      ask();
      return Effect.sync(() => {
        isWanted = false;
      });
    });
  }

  #isTrusted(client: PoolClient): boolean {
    return (this.#openedAt.get(client) ?? 0) >= this.#trustedFrom;
  }

  #makeLoan(client: PoolClient, release: (destroy?: boolean) => void, patience: number): Loan {
    const loan = new Loan({
      client,
      duration: patience + grace,
      statementTimeout: patience,
      fellSilent: () => {
        // What happened to this connection has happened to the others as well: those that wait for an answer have
        // little time left to get one, and those that are idle are replaced.
        this.#trustedFrom = performance.now();
        for (const other of this.#loans) other.hurry(grace);
      },
      returned: (isSound) => {
        this.#loans.delete(loan);
        release(!isSound);
      },
    });
    // One that may take its time is given it.
    if (patience === this.#statementTimeout) this.#loans.add(loan);
    return loan;
  }
}

/** A replica is behind, and so are its answers. A connection can lead to one while the address is moved to it. */
const refuseReplica = async (client: ClientBase): Promise<void> => {
  try {
    const question = { text: "SELECT pg_is_in_recovery()::text AS replica", query_timeout: 2 * grace };
    const { rows } = await client.query<{ readonly replica: string }>(question);
    if (rows[0]?.replica === "true") throw Object.assign(new Error("a replica"), { code: "25006" });
  } catch (error) {
    // Nobody waits for the farewell.
    (client as PoolClient).connection.stream.destroy();
    throw error;
  }
};

/**
 * How much longer than the server itself we wait for the end of a statement, and for those of others when it did not
 * come, in milliseconds.
 */
const grace = 250;

/** Whole numbers are numbers. One that is too large for that comes out as one that no reader takes for a safe integer. */
const parserOf = (oid: number): ((text: string) => unknown) =>
  wholeNumbers.has(oid) ? Number : (text) => text;

/** The types int8, int2 and int4. */
const wholeNumbers = new Set([20, 21, 23]);
