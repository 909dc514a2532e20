import {
  makeStorageUse,
  type Rest,
  StorageCheck,
  StorageIdentity,
  type StoragePorts,
  type StorageRefused,
  StorageUse,
  waitForStorage,
} from "@accountlink/core";
import { clockLead } from "@accountlink/core/timestamp";
import { Context, Duration, Effect, Layer, type Redacted, type Scope } from "effect";
import { type Migrator, SqlClient, SqlConnection, type SqlError } from "effect/sql";
import { checkStorage } from "../check_storage.ts";
import { DatabaseUnusable } from "../database_unusable.ts";
import { type DatabaseTooNew, lastMigration, migrate, newestMigration } from "../migrations.ts";
import type { UnreadableRow } from "../statements/row.ts";
import { storeOperation } from "../statements/store_operation.ts";
import { placeRecordsOn, postgresPlace, readPlaceRows, restFoundOn } from "../storage_place.ts";
import { layer } from "../stores.ts";
import { explained, isCertificateError } from "./certificate.ts";
import { layerPostgresClient } from "./sql_client.ts";
import { diskFull, expectedOwner, sharedByTransactions } from "./sql_error.ts";
import { type ParsedPostgresUrl, parsePostgresUrl } from "./url.ts";

export interface PostgresOptions {
  /**
   * The URL of the database, as `postgres://user:password@host:port/database`. With `?sslmode=verify-full`, connections
   * use TLS and check the server's certificate against the authorities in the file `sslrootcert`, if given. Every other
   * TLS mode except `no-verify` also checks the certificate.
   */
  readonly url: Redacted.Redacted;
  /** The maximum number of connections of this node, at least 2; 10 by default. A quarter of them is for lookups. */
  readonly maxConnections?: number;
  /** How long to wait for a free or new connection; 1 second by default. */
  readonly connectTimeout?: Duration.Input;
  /**
   * How long a statement may take once it has a connection; 1.5 seconds by default. Imports and deletions of scopes may
   * take a minute.
   */
  readonly statementTimeout?: Duration.Input;
  /** How long to wait at start for a database that is unreachable or not ready; no wait by default. */
  readonly startTimeout?: Duration.Input;
}

export type PostgresError = DatabaseUnusable | DatabaseTooNew | StorageRefused;

/**
 * Every storage port, on Postgres 15 or later. Migrates the schema first.
 *
 * Whatever happens to the database, a statement answers, or fails with `StoreUnavailable`, within `connectTimeout`
 * plus `statementTimeout` plus 250 ms. The stores recover with the database.
 *
 * @example
 * ```ts
 * import { Effect, Layer, Redacted } from "effect";
 *
 * const storage = layerPostgres({ url: Redacted.make("postgres://links@127.0.0.1:1/links") });
 * const error = await Effect.runPromise(Effect.flip(Effect.scoped(Layer.build(storage))));
 * [error instanceof DatabaseUnusable, error instanceof DatabaseTooNew]; // [true, false]
 * ```
 */
export const layerPostgres = (options: PostgresOptions): Layer.Layer<StoragePorts, PostgresError> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const opened = yield* open(options);
      yield* migrateOn(opened, options);
      const { database, unusable } = opened;
      const identity = yield* databaseIdentity.pipe(
        Effect.provideContext(database),
        Effect.mapError(unusable),
      );
      const sql = Context.get(database, SqlClient.SqlClient);
      const clockOf = leadOf(sql).pipe(storeOperation("StorageUse.clock"));
      const use = yield* makeStorageUse(placeRecordsOn(sql, postgresPlace), { clockLead: clockOf }).pipe(
        Effect.mapError(({ cause }) => unusable(cause)),
      );
      return Layer.provide(layer, Layer.succeedContext(database)).pipe(
        Layer.merge(Layer.succeed(StorageIdentity, identity)),
        Layer.merge(Layer.succeed(StorageUse, use)),
      );
    }),
  );

/**
 * Returns the identity of the database. A copy made by pg_dump has another identity. A copy of the server's files, such
 * as a standby, has the same identity.
 */
const databaseIdentity = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const [database] = yield* sql<{ readonly oid: string }>`
    SELECT oid::text AS oid FROM pg_database WHERE datname = current_database()`;
  const [cluster] = yield* sql<{ readonly id: string }>`
    SELECT system_identifier::text AS id FROM pg_control_system()`.pipe(
    // A hosting provider may hide the server's identifier. Without it, the identity still distinguishes the databases
    // of one server.
    Effect.catchIf(
      ({ reason }) => reason._tag === "AuthorizationError",
      () => Effect.succeed([]),
    ),
  );
  return `${cluster?.id ?? ""}-${database?.oid ?? ""}`;
});

/** Opens the database itself, with its schema migrated, for a move, whose connections have a name. @internal */
export const openPostgres = (
  options: PostgresOptions,
  name?: string,
): Effect.Effect<SqlClient.SqlClient, PostgresError, Scope.Scope> =>
  Effect.gen(function* () {
    const opened = yield* open(options, name);
    yield* migrateOn(opened, options);
    return Context.get(opened.database, SqlClient.SqlClient);
  }).pipe(Effect.provideService(StorageCheck, () => Effect.void));

/** Migrates the schema, and returns the names of the migrations that it ran. @internal */
export const migratePostgres = (
  options: PostgresOptions,
): Effect.Effect<ReadonlyArray<string>, PostgresError> =>
  Effect.scoped(Effect.flatMap(open(options), (opened) => migrateOn(opened, options)));

export interface PostgresState {
  /** The address of the database, as `host:port/database`. */
  readonly path: string;
  /** The version of the server, such as `18.4`. */
  readonly server: string;
  /** The encoding of the database; other encodings than `UTF8` cannot store every name. */
  readonly encoding: string;
  /** The numbers of the last migration that ran on this database, and of the last migration in this release. */
  readonly schema: { readonly version: number; readonly newest: number };
  /** The schema in which the user may make tables; null if the user may not. */
  readonly ownSchema: string | null;
  /** Whether a table that is dropped at once found no room on the disk. */
  readonly isDiskFull: boolean;
  /** Whether the user may write every table. */
  readonly isWritable: boolean;
  readonly tables: ReadonlyArray<string>;
  /** The wrapped root key; null before its creation. */
  readonly rootKey: string | null;
  /** Since when the data acts on nobody, and why; null if it acts. */
  readonly rest: Rest | null;
  /** Whether a pooler gives each transaction another connection, which prepared statements do not survive. */
  readonly isShared: boolean;
  /** The schema with the data that a restore set aside before it was cut off; null unless the own schema is empty. */
  readonly setAside: string | null;
  /** How far the clock of the server is ahead of this machine's, in milliseconds. */
  readonly clockLead: number;
}

/** Reads the state of a database, without changing it. @internal */
export const inspectPostgres = (options: PostgresOptions): Effect.Effect<PostgresState, DatabaseUnusable> =>
  Effect.scoped(
    Effect.flatMap(open(options), ({ url, database, unusable }) =>
      Effect.map(state, (found) => ({ path: url.path, ...found })).pipe(
        Effect.provideContext(database),
        Effect.mapError(unusable),
        Effect.catch((error) => refused(url, error)),
      ),
    ),
  );

/** Warns of other encodings than UTF8, because they cannot store every name. */
const warnOfEncoding = Effect.fnUntraced(function* (path: string) {
  const sql = yield* SqlClient.SqlClient;
  const [found] = yield* sql<{ readonly encoding: string }>`
    SELECT current_setting('server_encoding') AS encoding`;
  if (found === undefined || found.encoding === "UTF8") return;
  yield* Effect.logWarning(
    `The encoding of the database "${path}" is ${found.encoding}, expected UTF8: a request fails if ` +
      `it stores a character that this encoding lacks`,
  );
});

/**
 * Whether a pooler gives each transaction another connection: then a setting of a connection is gone while another one has a
 * transaction open, which took the first one's.
 */
const isShared = Effect.gen(function* () {
  const [sql, connection] = [yield* SqlClient.SqlClient, yield* SqlConnection.Connection];
  yield* connection.executeValues("SELECT set_config('accountlink.kept', 'yes', false)", []);
  const asked = connection.executeValues("SELECT current_setting('accountlink.kept', true)", []);
  const [row] = yield* sql.withTransaction(Effect.andThen(sql`SELECT 1`, asked));
  return row?.[0] !== "yes";
});

const warnOfSharing = Effect.fnUntraced(function* (path: string) {
  if (yield* isShared)
    yield* Effect.logWarning(`Cannot rely on the database "${path}": ${sharedByTransactions}`);
});

const leadOf = (sql: SqlClient.SqlClient) =>
  clockLead(
    Effect.map(
      sql<{ readonly now: number }>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`,
      ([clock]) => clock?.now ?? Number.NaN,
    ),
  );

/** Whether the user may write the tables that the owner of `schema_migrations` has. */
const isWritable = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const [found] = yield* sql<{ readonly is_writable: boolean | null }>`
    SELECT bool_and(has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE')
      AND has_table_privilege(oid, 'DELETE')) AS is_writable FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
      AND relowner = (SELECT relowner FROM pg_class WHERE oid = to_regclass('schema_migrations'))`;
  return found?.is_writable !== false;
});

const state = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const [found] = yield* sql<{
    readonly server: string;
    readonly encoding: string;
    readonly own_schema: string | null;
    readonly steps: string | null;
    readonly root_key: string | null;
    readonly place: string | null;
    readonly tables: string | null;
  }>`
    SELECT current_setting('server_version') AS server, current_setting('server_encoding') AS encoding,
      CASE WHEN has_schema_privilege(current_schema(), 'CREATE') THEN current_schema()::text END AS own_schema,
      to_regclass('schema_migrations')::text AS steps, to_regclass('root_key')::text AS root_key,
      to_regclass('storage_place')::text AS place,
      (SELECT json_agg(relname)::text FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')) AS tables`;
  const version = found?.steps === null ? 0 : yield* lastMigration;
  const [stored] =
    found?.root_key === null ? [] : yield* sql<{ readonly wrapped: string }>`SELECT wrapped FROM root_key`;
  const { server = "", encoding = "", own_schema: ownSchema = null, tables, place = null } = found ?? {};
  return {
    server,
    encoding,
    ownSchema,
    isWritable: yield* isWritable,
    isDiskFull: yield* isDiskFull,
    schema: { version, newest: newestMigration },
    tables: JSON.parse(tables ?? "[]") as ReadonlyArray<string>,
    rootKey: stored?.wrapped ?? null,
    rest: place === null ? null : yield* restFoundOn(readPlaceRows(sql, postgresPlace)),
    isShared: yield* isShared,
    setAside: yield* setAsideHere,
    clockLead: yield* leadOf(sql),
  };
});

/** A restore that replaces data is cut off between setting it aside and the end of pg_restore's transaction. */
const setAsideHere = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const [found] = yield* sql<{ readonly name: string }>`
    SELECT nspname::text AS name FROM pg_namespace JOIN pg_class ON relnamespace = pg_namespace.oid
    WHERE relname = 'root_key' AND nspname ~ ${`^${asidePrefix}[0-9]{8}T[0-9]{9}Z$`} AND to_regclass('root_key') IS NULL
    ORDER BY nspname DESC LIMIT 1`;
  return found?.name ?? null;
});

/** What the names of schemas begin with that a restore set aside; a time follows. @internal */
export const asidePrefix = "accountlink_";

/** Why a database does not start as a new one. @internal */
export const cutOff = (aside: string): string =>
  `a restore was cut off, and its earlier data is in schema "${aside}", expected that restore again, or that schema in place of the empty one`;

/** A table of a transaction that is rolled back takes a page of the disk. */
const isDiskFull = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const roomFor = Effect.andThen(
    sql`CREATE TEMPORARY TABLE accountlink_inspection ON COMMIT DROP AS SELECT repeat('x', 1000) AS text`,
    Effect.fail("room" as const),
  );
  const refusal = yield* Effect.flip(sql.withTransaction(roomFor));
  return refusal !== "room" && refusal.message === diskFull;
});

type Database = Context.Context<SqlClient.SqlClient | SqlConnection.Connection>;

interface Opened {
  readonly url: ParsedPostgresUrl;
  readonly database: Database;
  readonly unusable: (cause: unknown) => DatabaseUnusable;
}

export const open = (
  options: PostgresOptions,
  name?: string,
): Effect.Effect<Opened, DatabaseUnusable, Scope.Scope> =>
  Effect.gen(function* () {
    const parsed = yield* parsePostgresUrl(options.url);
    const url = name === undefined ? parsed : { ...parsed, applicationName: name };
    const { maxConnections = 10, connectTimeout = "1 second", statementTimeout = "1500 millis" } = options;
    const client = layerPostgresClient({
      url,
      maxConnections,
      connectTimeout: Duration.toMillis(connectTimeout),
      statementTimeout: Duration.toMillis(statementTimeout),
    });
    return {
      url,
      database: yield* Layer.build(client),
      unusable: (cause) => new DatabaseUnusable({ path: url.path, cause }),
    };
  });

/** Migrates the schema as soon as the database is available. */
const migrateOn = (
  { url, database, unusable }: Opened,
  options: PostgresOptions,
): Effect.Effect<ReadonlyArray<string>, PostgresError> => {
  const start = Effect.gen(function* () {
    const aside = yield* setAsideHere;
    if (aside !== null) return yield* unusable({ message: cutOff(aside) });
    yield* checkStorage(postgresPlace);
    if (!(yield* isWritable)) {
      return yield* unusable({ message: `its user may not write all of its tables, ${expectedOwner}` });
    }
    return yield* migrate;
  });
  const notMigrated = (error: SqlError.SqlError | Migrator.MigrationError | UnreadableRow) =>
    refused(url, unusable(error));
  return waitForStorage(start, options, (error) => unusable(error).message, isTransient).pipe(
    Effect.tap(() => warnOfEncoding(url.path)),
    Effect.tap(() => warnOfSharing(url.path)),
    Effect.catchTag(["SqlError", "MigrationError", "UnreadableRow"], notMigrated),
    Effect.provideContext(database),
  );
};

type StartError = Effect.Error<typeof migrate | ReturnType<typeof checkStorage>> | DatabaseUnusable;

/** Names the fault of a certificate, if the database cannot be used for it. */
const refused = (url: ParsedPostgresUrl, error: DatabaseUnusable): Effect.Effect<never, DatabaseUnusable> =>
  Effect.flatMap(explained(url, error.message), (cause) =>
    Effect.fail(cause === null ? error : new DatabaseUnusable({ path: error.path, cause })),
  );

const isTransient = (error: StartError): boolean =>
  error._tag === "SqlError" && error.isRetryable && !isCertificateError(causeText(error));

const causeText = ({ reason: { cause } }: SqlError.SqlError): string =>
  cause instanceof Error ? cause.message : "";
