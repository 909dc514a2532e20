/** The stores in a data folder of this machine. */

import { chmod, mkdir } from "node:fs/promises";
import type { StoragePorts } from "@accountlink/core";
import { type Context, Effect, Layer, type Scope } from "effect";
import { type Migrator, SqlClient, type SqlConnection, type SqlError } from "effect/sql";
import { databaseFile } from "./data_folder.ts";
import { DatabaseUnusable } from "./database_unusable.ts";
import { acquireProcessLock, type DataFolderInUse } from "./internal/process_lock.ts";
import { layerSqlite } from "./internal/sqlite_client.ts";
import { type DatabaseTooNew, migrate } from "./migrations.ts";
import { layer } from "./stores.ts";

/** Which data folder, and as what. */
export interface EmbeddedOptions {
  /** Path of the data folder, made when there is none. */
  readonly folder: string;
  /**
   * Whether to be the one server of the folder, which is so when left out. The command line works beside a server and
   * says false.
   */
  readonly exclusive?: boolean;
}

/** Why the stores of a folder cannot be had. */
export type EmbeddedError = DatabaseUnusable | DatabaseTooNew | DataFolderInUse;

/** Every storage port, kept in one SQLite file in the data folder. Its schema is brought up to date first. */
export const layerEmbedded = (options: EmbeddedOptions): Layer.Layer<StoragePorts, EmbeddedError> =>
  Layer.provide(layer, Layer.effectContext(Effect.map(open(options), ({ database }) => database)));

/**
 * Brings the schema in a folder up to date without serving from it, and gives the names of the steps that it took.
 *
 * @example
 * ```ts
 * import { Effect } from "effect";
 *
 * const folder = "migrated-data";
 * const taken = await Effect.runPromise(StorageSql.migrateEmbedded({ folder }));
 * taken[0]; // "initial"
 * await Effect.runPromise(StorageSql.migrateEmbedded({ folder })); // []
 * ```
 */
export const migrateEmbedded = (
  options: EmbeddedOptions,
): Effect.Effect<ReadonlyArray<string>, EmbeddedError> =>
  Effect.scoped(Effect.map(open(options), ({ migrated }) => migrated));

type Database = Context.Context<SqlClient.SqlClient | SqlConnection.Connection>;

const open = ({
  folder,
  exclusive = true,
}: EmbeddedOptions): Effect.Effect<
  { readonly database: Database; readonly migrated: ReadonlyArray<string> },
  EmbeddedError,
  Scope.Scope
> => {
  const path = databaseFile(folder);
  const unusable = (cause: unknown) => new DatabaseUnusable({ path, cause });
  const notOpened = (error: SqlError.SqlError | Migrator.MigrationError) => Effect.fail(unusable(error));
  return Effect.gen(function* () {
    // Nobody else on the machine has any business with the keys and links in it.
    yield* Effect.tryPromise({ try: () => mkdir(folder, { recursive: true, mode: 0o700 }), catch: unusable });
    if (exclusive) yield* acquireProcessLock(folder);
    const database = yield* Layer.build(layerSqlite({ filename: path }));
    yield* Effect.tryPromise({ try: () => chmod(path, 0o600), catch: unusable });
    const migrated = yield* Effect.provideContext(Effect.andThen(enlargeCache, migrate), database);
    return { database, migrated };
  }).pipe(Effect.catchTags({ SqlError: notOpened, MigrationError: notOpened }));
};

/** To 64 MiB. In the 2 MB of the default, an import loses its pages and has to write them several times. */
const enlargeCache = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`PRAGMA cache_size = -65536`);
