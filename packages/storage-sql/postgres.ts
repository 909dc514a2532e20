/** The stores in a Postgres that many nodes share. */
import type { StoragePorts } from "@accountlink/core";
import { type Context, Duration, Effect, Layer, type Redacted, Schedule, type Scope } from "effect";
import { type Migrator, SqlClient, type SqlConnection, type SqlError } from "effect/sql";
import { DatabaseUnusable } from "./database_unusable.ts";
import { layerPostgresClient } from "./internal/postgres_client.ts";
import { parsePostgresUrl } from "./internal/postgres_url.ts";
import { type DatabaseTooNew, lastStep, migrate, newestStep } from "./migrations.ts";
import { layer } from "./stores.ts";

/** Which database, and how much may be asked of it. */
export interface PostgresOptions {
  /**
   * `postgres://user:password@host:port/database`. `?sslmode=verify-full` talks over TLS and checks the certificate,
   * against the authorities of the file `sslrootcert` when it names one; any other mode that talks over TLS checks it
   * as well, but `no-verify`.
   */
  readonly url: Redacted.Redacted;
  /** How many connections this node has at most; 10 when left out. */
  readonly maxConnections?: number;
  /** How long to wait for a connection, be it a new one or one that is in use; 1 second when left out. */
  readonly connectTimeout?: Duration.Input;
  /**
   * How long an operation may take from when it has its connection; 1.5 seconds when left out. Imports and the deletion
   * of a scope have a minute.
   */
  readonly statementTimeout?: Duration.Input;
  /**
   * How long to go on trying, before the schema is brought up to date, while the database cannot be reached or is not
   * ready; not at all when left out.
   */
  readonly startTimeout?: Duration.Input;
}

/** Why the stores of a database cannot be had. */
export type PostgresError = DatabaseUnusable | DatabaseTooNew;

/**
 * Every storage port, kept in a Postgres of version 15 or later. Its schema is brought up to date first.
 *
 * An operation answers or fails with `StoreUnavailable` within `connectTimeout` and `statementTimeout` together, and a
 * quarter of a second, whatever becomes of the database; when it is back, so are the stores.
 */
export const layerPostgres = (options: PostgresOptions): Layer.Layer<StoragePorts, PostgresError> =>
  Layer.provide(
    layer,
    Layer.effectContext(
      Effect.map(
        Effect.tap(open(options), (opened) => migrateOn(opened, options)),
        ({ database }) => database,
      ),
    ),
  );

/** Brings the schema up to date without serving from it, and gives the names of the steps that it took. */
export const migratePostgres = (
  options: PostgresOptions,
): Effect.Effect<ReadonlyArray<string>, PostgresError> =>
  Effect.scoped(Effect.flatMap(open(options), (opened) => migrateOn(opened, options)));

/** What there is in a database. */
export interface PostgresState {
  /** Where it is: `host:port/database`. */
  readonly path: string;
  /** The version of the server, such as `18.4`. */
  readonly server: string;
  /** The number of the last step that the schema has been through, and of the last one that this release knows. */
  readonly schema: { readonly version: number; readonly newest: number };
  /** The wrapped root key; null when there is none yet. */
  readonly rootKey: string | null;
}

/** Looks at a database and changes nothing in it. */
export const inspectPostgres = (options: PostgresOptions): Effect.Effect<PostgresState, DatabaseUnusable> =>
  Effect.scoped(
    Effect.flatMap(open(options), ({ path, database, unusable }) =>
      state.pipe(
        Effect.map((found) => ({ path, ...found })),
        Effect.provideContext(database),
        Effect.mapError(unusable),
      ),
    ),
  );

const state = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const [found] = yield* sql<{
    readonly server: string;
    readonly steps: string | null;
    readonly root_key: string | null;
  }>`
    SELECT current_setting('server_version') AS server,
      to_regclass('schema_migrations') AS steps, to_regclass('root_key') AS root_key`;
  const version = found?.steps === null ? 0 : yield* lastStep;
  const [stored] =
    found?.root_key === null ? [] : yield* sql<{ readonly wrapped: string }>`SELECT wrapped FROM root_key`;
  return {
    server: found?.server ?? "",
    schema: { version, newest: newestStep },
    rootKey: stored?.wrapped ?? null,
  };
});

type Database = Context.Context<SqlClient.SqlClient | SqlConnection.Connection>;

interface Opened {
  readonly path: string;
  readonly database: Database;
  readonly unusable: (cause: unknown) => DatabaseUnusable;
}

const open = (options: PostgresOptions): Effect.Effect<Opened, DatabaseUnusable, Scope.Scope> =>
  Effect.gen(function* () {
    const place = yield* parsePostgresUrl(options.url);
    const { maxConnections = 10, connectTimeout = "1 second", statementTimeout = "1500 millis" } = options;
    const timeouts = {
      connectTimeout: Duration.fromInputUnsafe(connectTimeout),
      statementTimeout: Duration.fromInputUnsafe(statementTimeout),
    };
    const client = layerPostgresClient({ place, maxConnections, ...timeouts });
    return {
      path: place.path,
      database: yield* Layer.build(client),
      unusable: (cause) => new DatabaseUnusable({ path: place.path, cause }),
    };
  });

/** Migrates as soon as the database is there, and says once that it is waited for. */
const migrateOn = (
  { database, unusable }: Opened,
  { startTimeout = 0 }: PostgresOptions,
): Effect.Effect<ReadonlyArray<string>, PostgresError> => {
  const timeout = Duration.fromInputUnsafe(startTimeout);
  const schedule = Schedule.spaced(retryPause).pipe(Schedule.upTo({ duration: timeout }));
  const tryAgain = (error: MigrateError) =>
    Effect.logWarning(`Waiting up to ${Duration.format(timeout)}: ${unusable(error).message}`).pipe(
      Effect.andThen(Effect.retry(migrate, { schedule, while: isPassing })),
    );
  const notMigrated = (error: SqlError.SqlError | Migrator.MigrationError) => Effect.fail(unusable(error));
  return migrate.pipe(
    Effect.catchIf((error) => isPassing(error) && !Duration.isZero(timeout), tryAgain),
    Effect.catchTags({ SqlError: notMigrated, MigrationError: notMigrated }),
    Effect.provideContext(database),
  );
};

const retryPause = Duration.millis(500);

type MigrateError = Effect.Error<typeof migrate>;

/** Whether it may well work a moment later. */
const isPassing = (error: MigrateError): boolean => error._tag === "SqlError" && error.isRetryable;
