/** For tests: a temporary folder, removed with the scope. */
import { existsSync, statfsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, type Scope } from "effect";

const memory = "/dev/shm";

const hasRoom = (folder: string): boolean => {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize > 1e9;
};

/** A file system in memory if the machine has one, since most commits take longer to sync the disk than to run. */
const parent = existsSync(memory) && hasRoom(memory) ? memory : tmpdir();

export const makeTempFolder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(parent, "accountlink-sql-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true })),
);
