/** For tests: a temporary folder, removed with the scope. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, type Scope } from "effect";

export const makeTempFolder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "accountlink-sql-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true })),
);
