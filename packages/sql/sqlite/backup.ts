/** Copies of the embedded database: made beside a running server, checked, and put in place of the database. */
import { createReadStream, existsSync } from "node:fs";
import {
  access,
  chmod,
  constants,
  copyFile,
  link,
  open,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { Clock, Context, Data, Effect, Layer, type Scope } from "effect";
import { SqlClient, type SqlError } from "effect/sql";
import { DatabaseUnusable } from "../database_unusable.ts";
import { newestMigration } from "../migrations.ts";
import { restDatabase } from "../storage_place.ts";
import { BulkConnection, startThread } from "./client/bulk_connection.ts";
import { layerSqlite } from "./client/sql_client.ts";
import { databaseFile, holdsNothing } from "./inspect.ts";
import { nodeSqlite } from "./node_sqlite.ts";
import { acquireProcessLock, type DataFolderInUse, giveToOwnerOf } from "./process_lock.ts";

/** What a copy holds. @internal */
export interface CopyState {
  /** The number of the last migration that ran on it. */
  readonly version: number;
  readonly rootKey: string;
  readonly tables: Readonly<Record<string, number>>;
}

/** A file is no whole database of this service, or one of a newer release. @internal */
export class CopyRefused extends Data.TaggedError("CopyRefused")<{
  readonly file: string;
  readonly reason: string;
  readonly expected?: string;
}> {
  readonly code = "COPY_REFUSED";
  readonly details = null;
  override readonly message = `Cannot use backup "${this.file}": ${this.reason}, expected ${
    this.expected ?? "a whole file that accountlink backup wrote, such as an earlier one"
  }`;
}

/** A refusal of a copy that a newer release made. @internal */
export const newerCopy = (file: string, version: number, newest: number): CopyRefused =>
  new CopyRefused({
    file,
    reason: `its schema is version ${version}, and this release has ${newest}`,
    expected: "one of this release or an earlier one: install the release that made it",
  });

/** Statements run in a thread, since a copy of a large database would delay every request of the process. */
const connect = (filename: string, settings: string): Effect.Effect<BulkConnection, never, Scope.Scope> =>
  Effect.map(
    startThread({ filename, busyTimeout: 5_000, settings }),
    (worker) => new BulkConnection(worker, () => {}),
  );

/**
 * Writes a copy of the database of a data folder to an empty file, syncs it, and returns what it holds, read from the
 * copy. @internal
 */
export const copyEmbedded = Effect.fnUntraced(function* (
  folder: string,
  file: string,
): Effect.fn.Return<CopyState, DatabaseUnusable | CopyRefused> {
  const path = databaseFile(folder);
  const notWritten = (cause: unknown) => new DatabaseUnusable({ path: file, cause });
  yield* Effect.flatMap(connect(path, "PRAGMA query_only = 0"), (connection) =>
    connection.executeValues("VACUUM INTO ?", [file]),
  ).pipe(
    Effect.scoped,
    // Of the two files, the copy alone is written.
    Effect.mapError((cause) =>
      reasonOf(cause.reason.cause).endsWith(" is full")
        ? notWritten(cause)
        : new DatabaseUnusable({ path, cause }),
    ),
  );
  yield* Effect.mapError(leavePlace(file), notWritten);
  yield* Effect.tryPromise({ try: () => settle(file), catch: notWritten });
  return yield* checkCopy(file);
});

/** Takes a copy from the place of its original, also where it is copied over the file of that one. */
const leavePlace = Effect.fnUntraced(function* (file: string) {
  const connection = yield* connect(file, "PRAGMA journal_mode = MEMORY");
  // An earlier release may have no place.
  const found = yield* connection.executeValues(
    "SELECT 1 FROM sqlite_schema WHERE name = 'storage_place'",
    [],
  );
  if (found.length > 0) yield* connection.executeRaw("UPDATE storage_place SET place = ''", []);
}, Effect.scoped);

/** Makes a file durable, and closed to other users. */
const settle = async (file: string): Promise<void> => {
  await chmod(file, 0o600);
  const handle = await open(file, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Fails unless the file is there, and this user may read it. @internal */
export const refuseUnreadable = (file: string): Effect.Effect<void, CopyRefused> => {
  const refuse = (reason: string, expected?: string) =>
    new CopyRefused({ file, reason, ...(expected !== undefined && { expected }) });
  return Effect.tryPromise({
    try: async () => {
      const found = await stat(file);
      await access(file, constants.R_OK);
      return found;
    },
    catch: (cause) =>
      (cause as NodeJS.ErrnoException).code === "ENOENT"
        ? refuse("there is no such file")
        : refuse(reasonOf(cause), "a file that the user of this command may read"),
  }).pipe(
    Effect.flatMap((found) => {
      if (!found.isFile()) return refuse("it is not a file");
      return found.size === 0 ? refuse("it is empty") : Effect.void;
    }),
  );
};

/** Reads a whole copy. Fails unless it is a whole database that this release can use. @internal */
export const checkCopy = (file: string): Effect.Effect<CopyState, CopyRefused> => {
  const refuse = (reason: string) => new CopyRefused({ file, reason });
  return Effect.gen(function* () {
    yield* refuseUnreadable(file);
    const connection = yield* connect(file, "PRAGMA query_only = 1");
    const ask = (sql: string): Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError.SqlError> =>
      connection.executeValues(sql, []);
    const damage = (yield* ask("PRAGMA integrity_check(1)"))[0]?.[0];
    if (damage !== "ok") return yield* refuse(`it is damaged (${String(damage)})`);
    const names = (yield* ask("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"))
      .map(([name]) => String(name))
      .filter((name) => !name.startsWith("sqlite_"));
    if (!names.includes("root_key") || !names.includes("schema_migrations")) {
      return yield* refuse("it has no tables of this service");
    }
    const version = Number((yield* ask("SELECT MAX(migration_id) FROM schema_migrations"))[0]?.[0]);
    if (version > newestMigration) {
      return yield* newerCopy(file, version, newestMigration);
    }
    const rootKey = (yield* ask("SELECT wrapped FROM root_key"))[0]?.[0];
    if (typeof rootKey !== "string") return yield* refuse("it holds no data");
    const tables: Record<string, number> = {};
    for (const name of names) {
      tables[name] = Number((yield* ask(`SELECT COUNT(*) FROM "${name}"`))[0]?.[0]);
    }
    return { version, rootKey, tables };
  }).pipe(
    Effect.scoped,
    Effect.catchTag("SqlError", ({ reason }) => refuse(reasonOf(reason.cause))),
  );
};

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : "it cannot be read");

const partIn = (folder: string): string => join(folder, ".restored.part");

/** Removes the copy that a restore makes, for those who have the lock of the folder. @internal */
export const removePart = (folder: string): Promise<unknown> =>
  Promise.all(besideOf(partIn(folder)).map((name) => rm(name, { force: true })));

/**
 * Puts a checked copy in place of the database of a data folder, which no server may use. The copy is copied into the
 * folder and read again there before anything is replaced. It rests until it is resumed.
 *
 * @param kept the file that takes what was there
 * @internal
 */
export const restoreEmbedded = Effect.fnUntraced(function* (
  file: string,
  folder: string,
  kept: string,
): Effect.fn.Return<CopyState, DatabaseUnusable | CopyRefused | DataFolderInUse> {
  const path = databaseFile(folder);
  const part = partIn(folder);
  const attempt = <A>(action: () => Promise<A>) =>
    Effect.tryPromise({ try: action, catch: (cause) => new DatabaseUnusable({ path, cause }) });
  return yield* Effect.gen(function* () {
    yield* acquireProcessLock(folder).pipe(
      Effect.catchTag("SqlError", (cause) => Effect.fail(new DatabaseUnusable({ path, cause }))),
    );
    yield* Effect.addFinalizer(() => Effect.promise(() => removePart(folder)));
    yield* attempt(async () => {
      // SQLite would apply the log that a killed restore left to the new part.
      await removePart(folder);
      // A copy of the file would have its mode, with which others may read it.
      await writeFile(part, createReadStream(file), { flag: "wx", mode: 0o600 });
      giveToOwnerOf(folder, part);
      await settle(part);
    });
    const state = yield* checkCopy(part);
    yield* restFile(part).pipe(
      Effect.catchTag("SqlError", (cause) => Effect.fail(new DatabaseUnusable({ path: part, cause }))),
    );
    yield* attempt(async () => {
      leaveWriteAheadLog(part);
      await settle(part);
      const isKept = !holdsNothing(folder);
      // Before SQLite opens the database: it removes the log of a damaged one.
      if (isKept) for (const end of logEnds) await keep(path + end, kept + end);
      if (leaveWriteAheadLog(path)) for (const end of logEnds) await rm(kept + end, { force: true });
      if (isKept) await keep(path, kept);
      for (const name of besideOf(path)) if (name !== path) await rm(name, { force: true });
      await rename(part, path);
      const directory = await open(dirname(path), "r");
      await directory.sync().catch(() => {});
      await directory.close();
    });
    return state;
  }).pipe(Effect.scoped);
});

/** Makes the data of a closed file rest. */
const restFile = Effect.fnUntraced(function* (filename: string) {
  const now = yield* Clock.currentTimeMillis;
  const database = yield* Layer.build(layerSqlite({ filename }));
  yield* restDatabase(Context.get(database, SqlClient.SqlClient), { since: now, reason: "restored" });
}, Effect.scoped);

/** The endings of the logs, whose commits the file of the database does not have yet. */
const logEnds = ["-wal", "-journal"];

/** Makes a link, since the database must never be missing. */
const keep = async (file: string, kept: string) => {
  if (existsSync(file)) await link(file, kept).catch(() => copyFile(file, kept));
};

const besideOf = (file: string): ReadonlyArray<string> =>
  ["", "-wal", "-shm", "-journal"].map((end) => file + end);

/**
 * Moves the log of the earlier database into its file: SQLite would apply the log to the restored one. Returns false if
 * the database is damaged, or in use.
 */
const leaveWriteAheadLog = (path: string): boolean => {
  try {
    const earlier = new (nodeSqlite().DatabaseSync)(path, { timeout: 5_000 });
    try {
      earlier.exec("PRAGMA journal_mode = DELETE");
    } finally {
      earlier.close();
    }
    return true;
  } catch {
    // Such a database is replaced all the same.
    return false;
  }
};
