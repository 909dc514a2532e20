/** Looking at the stores in a data folder without opening them for use. */
import { DatabaseSync } from "node:sqlite";
import { Effect } from "effect";
import { databaseFile, hasDatabase } from "./data_folder.ts";
import { DatabaseUnusable } from "./database_unusable.ts";
import { probeProcessLock } from "./internal/process_lock.ts";
import { newestStep } from "./migrations.ts";

/** What there is in a data folder. */
export interface EmbeddedState {
  /** Path of the database file. */
  readonly path: string;
  /** The number of the last step that the schema has been through, and of the last one that this release knows. */
  readonly schema: { readonly version: number; readonly newest: number };
  /** The wrapped root key; null when there is none yet. */
  readonly rootKey: string | null;
  /** What is broken in the file, in the words of SQLite; at most ten findings. */
  readonly damage: ReadonlyArray<string>;
  /** The server of the folder, when one runs; its process id is null when it is not known for certain. */
  readonly server: { readonly pid: number | null } | null;
}

/**
 * Reads the whole database and changes nothing in it, also beside a running server.
 *
 * Gives null when the folder holds no database, and fails with `DatabaseUnusable` when it holds one that cannot be
 * read.
 *
 * @param folder path of the data folder
 */
export const inspectEmbedded = (folder: string): Effect.Effect<EmbeddedState | null, DatabaseUnusable> =>
  Effect.gen(function* () {
    if (!hasDatabase(folder)) return null;
    const path = databaseFile(folder);
    const file = yield* Effect.try({
      try: () => readFile(path),
      catch: (cause) => new DatabaseUnusable({ path, cause }),
    });
    return { path, ...file, server: yield* runningServer(folder) };
  });

const readFile = (path: string): Pick<EmbeddedState, "schema" | "rootKey" | "damage"> => {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    const findings = database.prepare("PRAGMA integrity_check(10)").all();
    const messages = findings.map((row) => String(row["integrity_check"]));
    return {
      schema: { version: versionOf(database), newest: newestStep },
      rootKey: rootKeyOf(database),
      damage: messages.filter((message) => message !== "ok"),
    };
  } finally {
    database.close();
  }
};

const hasTable = (database: DatabaseSync, name: string): boolean =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").all(name).length > 0;

const rootKeyOf = (database: DatabaseSync): string | null => {
  if (!hasTable(database, "root_key")) return null;
  const row = database.prepare("SELECT wrapped FROM root_key").get();
  return row === undefined ? null : String(row["wrapped"]);
};

const versionOf = (database: DatabaseSync): number => {
  if (!hasTable(database, "schema_migrations")) return 0;
  return Number(
    database.prepare("SELECT MAX(migration_id) AS version FROM schema_migrations").get()?.["version"],
  );
};

const runningServer = (folder: string): Effect.Effect<EmbeddedState["server"]> =>
  probeProcessLock(folder).pipe(
    Effect.as(null),
    Effect.catchTags({
      DataFolderInUse: ({ pid }) => Effect.succeed({ pid }),
      SqlError: () => Effect.succeed(null),
    }),
  );
