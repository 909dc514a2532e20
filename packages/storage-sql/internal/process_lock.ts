/** One server process per data folder. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Data, Effect, Schedule, type Scope } from "effect";
import type { SqlError } from "effect/sql";
import { failWith, isBusy } from "./sqlite_error.ts";

/** Another server has the data folder. `pid` is its process id, or null when that is not known for certain. */
export class DataFolderInUse extends Data.TaggedError("DataFolderInUse")<{
  readonly folder: string;
  readonly pid: number | null;
}> {
  override readonly message = `Cannot start: data folder "${this.folder}" is in use by ${
    this.pid === null ? "another server" : `process ${this.pid}`
  }, expected one server per folder`;
}

/** Whoever only looks whether the lock is held lets go of it at once. */
const retried = { times: 8, schedule: Schedule.spaced("25 millis") };

/**
 * Makes this process the only server of the data folder until the scope closes. The operating system holds the lock
 * for the process, so it is free again the moment that the process is gone, `kill -9` included.
 *
 * Fails with `DataFolderInUse` when there is another one for 200 ms, and with `SqlError` when the folder does not exist
 * or cannot be written.
 *
 * @param folder path of an existing folder
 */
export function acquireProcessLock(
  folder: string,
): Effect.Effect<void, DataFolderInUse | SqlError.SqlError, Scope.Scope> {
  const taken = Effect.tap(lock(folder), () => Effect.sync(() => announceHolder(folder)));
  return Effect.asVoid(
    Effect.acquireRelease(
      Effect.retry(taken, { ...retried, while: ({ _tag }) => _tag === "DataFolderInUse" }),
      (held) => Effect.sync(() => release(folder, held)),
    ),
  );
}

/**
 * Fails with `DataFolderInUse` when a server has the data folder, and with `SqlError` when that cannot be found out.
 * SQLite tells only who takes the lock that nobody holds it: it is let go at once, and nobody is announced.
 *
 * @param folder path of an existing folder
 */
export function probeProcessLock(folder: string): Effect.Effect<void, DataFolderInUse | SqlError.SqlError> {
  return existsSync(lockFile(folder)) ? Effect.map(lock(folder), (held) => held.close()) : Effect.void;
}

/** One that nobody holds may lie in the folder all the same. */
function lockFile(folder: string): string {
  return join(folder, "server.lock");
}

/** An open write transaction on an empty database is a lock that SQLite keeps portable; nothing is ever written in it. */
function lock(folder: string): Effect.Effect<DatabaseSync, DataFolderInUse | SqlError.SqlError> {
  return Effect.suspend((): Effect.Effect<DatabaseSync, DataFolderInUse | SqlError.SqlError> => {
    try {
      return Effect.succeed(beginOn(lockFile(folder)));
    } catch (cause) {
      return isBusy(cause)
        ? Effect.fail(new DataFolderInUse({ folder, pid: readHolder(folder) }))
        : failWith(cause);
    }
  });
}

/**
 * Keeps other processes from what they do under a lock of this name, until the scope closes; they wait for it for ten
 * seconds.
 *
 * @param folder path of an existing folder
 */
export function acquireFolderLock(
  folder: string,
  name: string,
): Effect.Effect<void, SqlError.SqlError, Scope.Scope> {
  const begin = Effect.suspend(() => {
    try {
      return Effect.succeed(beginOn(join(folder, `${name}.lock`), 10_000));
    } catch (cause) {
      return failWith(cause);
    }
  });
  return Effect.asVoid(Effect.acquireRelease(begin, (held) => Effect.sync(() => held.close())));
}

/** @param timeout how long to wait for another process, in milliseconds */
function beginOn(file: string, timeout = 0): DatabaseSync {
  const held = new DatabaseSync(file, { timeout });
  try {
    // On disk, a journal that was left behind would have to be undone first, and two servers could refuse each other.
    held.exec("PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE");
    return held;
  } catch (cause) {
    held.close();
    throw cause;
  }
}

function release(folder: string, held: DatabaseSync): void {
  try {
    rmSync(holderFile(folder), { force: true });
  } finally {
    held.close();
  }
}

/** Not in the locked file itself: a process that opens and closes a file it has locked loses the lock. */
function holderFile(folder: string): string {
  return join(folder, "server.pid");
}

function announceHolder(folder: string): void {
  try {
    writeFileSync(holderFile(folder), `${process.pid} ${hostname()}\n`);
  } catch {
    // The lock is held all the same; whoever comes second is told less.
  }
}

/** The file can be left over from a server that was killed, or come from another machine or container. */
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
    // A process of another user may not be signalled, but it is there.
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
}
