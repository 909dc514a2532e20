/** Reads the state of a data folder without opening its stores. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Rest } from "@accountlink/core";
import { Effect } from "effect";
import { DatabaseUnusable } from "../database_unusable.ts";
import { newestMigration } from "../migrations.ts";
import { type PlaceRow, restColumns, restFoundOn, sqlitePlace } from "../storage_place.ts";
import { withoutDisguise } from "./client/sql_error.ts";
import { nodeSqlite } from "./node_sqlite.ts";

/** @internal */
export const databaseFile = (folder: string): string => join(folder, "accountlink.db");

/** The files of a data folder that a server writes, as far as they are there. @internal */
export const filesOf = (folder: string): ReadonlyArray<string> => [
  ...["", "-wal", "-shm"].map((end) => databaseFile(folder) + end),
  join(folder, "server.lock"),
];

/** Whether a data folder has a database file, valid or not. @internal */
export const hasDatabase = (folder: string): boolean => existsSync(databaseFile(folder));

/**
 * Whether the database of a data folder is missing or has no root key, so that it holds nothing. A target that a move has
 * not finished and a database that cannot be read count as ones that hold something. @internal
 */
export const holdsNothing = (folder: string): boolean => {
  if (!hasDatabase(folder)) return true;
  try {
    return reading(
      databaseFile(folder),
      (database) => rootKeyOf(database) === null && firstRow(database, "moving", "wrapped") === undefined,
    );
  } catch {
    return false;
  }
};

const readRootKey = (folder: string): string | null => reading(databaseFile(folder), rootKeyOf);

/** The wrapped root key of a data folder; null if its database holds nothing. @internal */
export const inspectRootKey = (folder: string): Effect.Effect<string | null, DatabaseUnusable> =>
  Effect.try({
    try: () => (hasDatabase(folder) ? readRootKey(folder) : null),
    catch: (cause) => new DatabaseUnusable({ path: databaseFile(folder), cause }),
  });

export const placeOfFile = (path: string) => {
  const { ino, birthtimeNs, ctimeNs } = statSync(path, { bigint: true });
  // Where it has no time of birth, Node may give the time of the last change.
  return sqlitePlace(ino, birthtimeNs === ctimeNs ? 0n : birthtimeNs);
};

export interface EmbeddedState {
  readonly path: string;
  /**
   * `version` is the number of the last migration that ran, and `newest` the number of this release's last migration.
   */
  readonly schema: { readonly version: number; readonly newest: number };
  readonly tables: ReadonlyArray<string>;
  /** The wrapped root key; null before its creation. */
  readonly rootKey: string | null;
  /** Since when the data acts on nobody, and why; null if it acts. */
  readonly rest: Rest | null;
  /** At most ten problems of the database file, as SQLite reports them. */
  readonly damage: ReadonlyArray<string>;
}

/**
 * Checks the whole database without changing it, even next to a running server. Returns null if the folder has no
 * database, and fails with `DatabaseUnusable` if the database cannot be read. @internal
 */
export const inspectEmbedded = (folder: string): Effect.Effect<EmbeddedState | null, DatabaseUnusable> =>
  Effect.suspend(() => {
    if (!hasDatabase(folder)) return Effect.succeed(null);
    const path = databaseFile(folder);
    return Effect.try({
      try: () => readFile(path),
      catch: (cause) => new DatabaseUnusable({ path, cause: withoutDisguise(cause) }),
    }).pipe(
      Effect.flatMap(({ place, ...state }) =>
        Effect.map(restFoundOn(Effect.succeed(place)), (rest) => ({ path, ...state, rest })),
      ),
    );
  });

/** Reads a database file without changing it. */
const reading = <A>(path: string, read: (database: DatabaseSync) => A): A => {
  const database = new (nodeSqlite().DatabaseSync)(path, { readOnly: true, timeout: 5_000 });
  try {
    return read(database);
  } finally {
    database.close();
  }
};

const readFile = (path: string) =>
  reading(path, (database) => {
    const messages = valuesOf(database, "PRAGMA integrity_check(10)");
    const version = firstRow(database, "schema_migrations", "MAX(migration_id) AS version")?.["version"];
    const place = firstRow(database, "storage_place", restColumns(placeOfFile(path).isHere));
    return {
      schema: { version: Number(version ?? 0), newest: newestMigration },
      tables: valuesOf(database, "SELECT name FROM sqlite_schema WHERE type = 'table'"),
      rootKey: rootKeyOf(database),
      place: (place ?? null) as PlaceRow | null,
      damage: messages.filter((message) => message !== "ok"),
    };
  });

const valuesOf = (database: DatabaseSync, query: string): ReadonlyArray<string> =>
  database
    .prepare(query)
    .all()
    .map((row) => String(Object.values(row)[0]));

/** The first row of a table; undefined if the table is empty or missing. */
const firstRow = (database: DatabaseSync, table: string, columns: string) =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(table) === undefined
    ? undefined
    : database.prepare(`SELECT ${columns} FROM ${table}`).get();

const rootKeyOf = (database: DatabaseSync): string | null => {
  const row = firstRow(database, "root_key", "wrapped");
  return row === undefined ? null : String(row["wrapped"]);
};
