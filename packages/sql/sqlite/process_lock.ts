/** Ensures that only one server process uses a data folder. */
import {
  accessSync,
  chownSync,
  constants,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { Data, Effect, Schedule, type Scope } from "effect";
import { SqlError } from "effect/sql";
import { failWith } from "./client/sql_error.ts";
import { nodeSqlite } from "./node_sqlite.ts";

/**
 * Another server uses the data folder. `pid` is the process ID of that server; null if it is uncertain.
 *
 * @example
 * ```ts
 * import { StorageSql } from "@accountlink/sql";
 * import { Effect, Layer } from "effect";
 *
 * const server = StorageSql.layerEmbedded({ folder: "shared-data" });
 * const second = Effect.flip(Layer.build(Layer.fresh(server)));
 * const refused = await Effect.runPromise(Effect.scoped(Effect.andThen(Layer.build(server), second)));
 * refused instanceof StorageSql.DataFolderInUse && refused.pid === process.pid; // true
 * refused instanceof StorageSql.DatabaseUnusable || refused instanceof StorageSql.DatabaseTooNew; // false
 * ```
 */
export class DataFolderInUse extends Data.TaggedError("DataFolderInUse")<{
  readonly folder: string;
  readonly pid: number | null;
}> {
  readonly code = "DATA_FOLDER_IN_USE";
  readonly details = { pid: this.pid };
  /** @internal */
  readonly problem = `data folder "${this.folder}" is in use by ${
    this.pid === null ? "another server" : `process ${this.pid}`
  }`;
  override readonly message = `Cannot start: ${this.problem}, expected one server per folder`;
}

/** Retries for 200 ms, because a previous server may still be shutting down. */
const retryPolicy = { times: 8, schedule: Schedule.spaced("25 millis") };

/**
 * Makes this process the only server of the data folder until the scope closes. The operating system holds the lock,
 * so it ends with the process, even after `kill -9`.
 *
 * Fails with `DataFolderInUse` if another server keeps the lock for 200 ms, and with `SqlError` if the folder does
 * not exist or cannot be written.
 */
export function acquireProcessLock(
  folder: string,
): Effect.Effect<void, DataFolderInUse | SqlError.SqlError, Scope.Scope> {
  const taken = openLock(folder, "server").pipe(
    Effect.catchIf(
      ({ reason }) => reason._tag === "LockTimeoutError",
      () => Effect.fail(new DataFolderInUse({ folder, pid: readHolder(folder) })),
    ),
    Effect.retry({ ...retryPolicy, while: ({ _tag }) => _tag === "DataFolderInUse" }),
    Effect.tap(() => Effect.sync(() => recordHolder(folder))),
  );
  return Effect.asVoid(Effect.acquireRelease(taken, (held) => Effect.sync(() => release(folder, held))));
}

/**
 * Acquires the lock with this name in the folder, and holds it until the scope closes. Waits up to ten seconds for
 * another process that holds it. @internal
 */
export function acquireFolderLock(
  folder: string,
  name: string,
): Effect.Effect<void, SqlError.SqlError, Scope.Scope> {
  const taken = openLock(folder, name, 10_000);
  return Effect.asVoid(Effect.acquireRelease(taken, (held) => Effect.sync(() => close(held))));
}

/**
 * The lock is an open write transaction on an empty database, which works on every platform. The file of the database
 * stays in the folder.
 *
 * @param timeout how long to wait for another process, in milliseconds
 */
const openLock = (
  folder: string,
  name: string,
  timeout = 0,
): Effect.Effect<DatabaseSync, SqlError.SqlError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(beginOn(join(folder, `${name}.lock`), timeout));
    } catch (cause) {
      return failWith(cause);
    }
  });

/** The held locks. The garbage collection of a fiber that waits forever would otherwise close its database. */
const locks = new Set<DatabaseSync>();

function beginOn(file: string, timeout: number): DatabaseSync {
  refuseReadOnly(file);
  const held = new (nodeSqlite().DatabaseSync)(file, { timeout });
  try {
    // Keep the journal in memory. A journal on disk would have to be recovered after a crash, and two servers that try
    // this at the same time could both be refused.
    held.exec("PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE");
    giveToOwnerOf(dirname(file), file);
    locks.add(held);
    return held;
  } catch (cause) {
    held.close();
    throw cause;
  }
}

/** SQLite opens a file that it cannot write for reading, and then excludes nobody. */
function refuseReadOnly(file: string): void {
  if (!existsSync(file)) return;
  try {
    accessSync(file, constants.W_OK);
  } catch {
    const message = `"${file}" can only be read, expected a file of the user who runs the server (chown)`;
    throw new SqlError.SqlError({
      reason: new SqlError.AuthorizationError({ cause: new Error(message), message }),
    });
  }
}

/** Gives what root makes in a data folder to the owner of the folder, whose server has to use it. @internal */
export function giveToOwnerOf(folder: string, ...files: ReadonlyArray<string>): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(folder);
  for (const file of files) {
    try {
      chownSync(file, uid, gid);
    } catch {
      // The file is not there, or the file system has no owners.
    }
  }
}

function release(folder: string, held: DatabaseSync): void {
  try {
    rmSync(holderFile(folder), { force: true });
  } finally {
    close(held);
  }
}

function close(held: DatabaseSync): void {
  locks.delete(held);
  held.close();
}

/** The process ID has its own file, because a process that reopens and closes the locked file loses the lock. */
function holderFile(folder: string): string {
  return join(folder, "server.pid");
}

function recordHolder(folder: string): void {
  try {
    writeFileSync(holderFile(folder), `${process.pid} ${hostname()}\n`);
    giveToOwnerOf(folder, holderFile(folder));
  } catch {
    // A failed write does no harm: the file only provides the process ID for the error message of a second server.
  }
}

/**
 * Returns the process ID of the server that holds the folder; null if that server has ended, or runs on another
 * machine or in another container.
 */
function readHolder(folder: string): number | null {
  try {
    const [pid, host] = readFileSync(holderFile(folder), "utf8").trim().split(" ");
    return host === hostname() && isRunning(Number(pid)) ? Number(pid) : null;
  } catch {
    return null;
  }
}

function isRunning(pid: number): boolean {
  try {
    return Number.isInteger(pid) && pid > 0 && process.kill(pid, 0);
  } catch (cause) {
    // EPERM: the process exists, but belongs to another user.
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
}
