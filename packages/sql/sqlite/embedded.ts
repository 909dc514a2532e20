import { chmod, mkdir, stat } from "node:fs/promises";
import {
  makeStorageUse,
  StorageCheck,
  StorageFault,
  type StoragePorts,
  type StorageRefused,
  StorageUse,
} from "@accountlink/core";
import { recordTypes } from "@accountlink/core/storage";
import { Context, Effect, Layer, type Scope } from "effect";
import { type Migrator, SqlClient, type SqlConnection, type SqlError } from "effect/sql";
import { checkStorage } from "../check_storage.ts";
import { DatabaseUnusable } from "../database_unusable.ts";
import { type DatabaseTooNew, migrate } from "../migrations.ts";
import type { UnreadableRow } from "../statements/row.ts";
import { placeRecordsOn } from "../storage_place.ts";
import { layer } from "../stores.ts";
import { removePart } from "./backup.ts";
import { layerSqlite } from "./client/sql_client.ts";
import { databaseFile, placeOfFile } from "./inspect.ts";
import { nodeSqlite } from "./node_sqlite.ts";
import { acquireProcessLock, type DataFolderInUse, giveToOwnerOf } from "./process_lock.ts";

export interface EmbeddedOptions {
  /** Path of the data folder, created if missing. */
  readonly folder: string;
  /**
   * Whether this process must be the only server of the folder; true by default. With false, the stores work while
   * another process is the server, as the command line requires.
   */
  readonly exclusive?: boolean;
}

export type EmbeddedError = DatabaseUnusable | DatabaseTooNew | DataFolderInUse | StorageRefused;

/** Every storage port, on one SQLite file in the data folder. Migrates the schema first. */
export const layerEmbedded = (options: EmbeddedOptions): Layer.Layer<StoragePorts, EmbeddedError> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { database } = yield* open(options);
      const path = databaseFile(options.folder);
      const sql = Context.get(database, SqlClient.SqlClient);
      // Leases end by themselves too, so a full disk stops no start.
      if (options.exclusive !== false) yield* Effect.ignore(endLeases(sql));
      const use = yield* makeStorageUse(placeRecordsOn(sql, placeOfFile(path))).pipe(
        Effect.mapError(({ cause }) => new DatabaseUnusable({ path, cause })),
      );
      return fileFault(path).pipe(
        Layer.provideMerge(Layer.provide(layer, Layer.succeedContext(database))),
        Layer.merge(Layer.succeed(StorageUse, use)),
      );
    }),
  );

/** Ends what servers before this one held: only one runs, so they are dead, whatever their clocks said. */
const endLeases = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  for (const { held } of recordTypes) if (held !== null) yield* sql`DELETE FROM ${sql(held.nodes)}`;
  yield* sql`UPDATE imports SET held_until = 0`;
});

/** Finds that the file of the database is not the one of the start: every write would be lost at the end. */
const fileFault = (path: string) => {
  const inode = Effect.promise(() =>
    stat(path, { bigint: true }).then(
      ({ ino }) => ino,
      () => null,
    ),
  );
  return Layer.effect(
    StorageFault,
    Effect.map(Effect.all([StorageFault, inode]), ([known, atStart]) =>
      Effect.flatMap(inode, (found) =>
        found === atStart ? known : Effect.succeed("its file was replaced or deleted since the start"),
      ),
    ),
  );
};

/** Opens the database itself, with its schema migrated, for a move. @internal */
export const openEmbedded = (
  options: EmbeddedOptions,
): Effect.Effect<SqlClient.SqlClient, EmbeddedError, Scope.Scope> =>
  Effect.map(open(options), ({ database }) => Context.get(database, SqlClient.SqlClient)).pipe(
    Effect.provideService(StorageCheck, () => Effect.void),
  );

/** Migrates the schema, and returns the names of the migrations that it ran. @internal */
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
  const notOpened = (error: SqlError.SqlError | Migrator.MigrationError | UnreadableRow) =>
    Effect.fail(unusable(error));
  return Effect.gen(function* () {
    yield* Effect.try({ try: nodeSqlite, catch: unusable });
    // Other users of the machine must not read keys and links.
    yield* Effect.tryPromise({ try: () => mkdir(folder, { recursive: true, mode: 0o700 }), catch: unusable });
    if (exclusive) {
      yield* acquireProcessLock(folder);
      // A killed restore left it, with links of users who may be erased since.
      yield* Effect.ignore(Effect.tryPromise(() => removePart(folder)));
    }
    const database = yield* Layer.build(layerSqlite({ filename: path }));
    yield* Effect.tryPromise({ try: () => chmod(path, 0o600), catch: unusable });
    giveToOwnerOf(folder, path, `${path}-wal`, `${path}-shm`);
    const checked = checkStorage(placeOfFile(path));
    const migrated = yield* Effect.provideContext(Effect.andThen(checked, migrate), database);
    return { database, migrated };
  }).pipe(Effect.catchTag(["SqlError", "MigrationError", "UnreadableRow"], notOpened));
};
