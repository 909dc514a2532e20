/** For tests: a temporary folder that is removed when its scope closes. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, type Scope } from "effect";

export const makeFolder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "accountlink-server-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true })),
);
