/** Logs when the disk becomes full, and when writes work again. */
import { Effect, Latch, type Scope } from "effect";

/**
 * Writes are considered to work again when none has failed for this long. One successful write proves nothing, since
 * small writes fit on a full disk.
 */
const quietTime = "5 seconds";

/**
 * Watches for a full disk until the scope closes, and logs when writes begin to fail and when they work again. Returns
 * a function to call for every statement that failed because the disk is full.
 *
 * @param commits reads a number that changes with every commit to the file
 */
export const logFullDisk = Effect.fnUntraced(function* <E>(
  file: string,
  commits: Effect.Effect<unknown, E>,
): Effect.fn.Return<() => void, never, Scope.Scope> {
  const refused = Latch.makeUnsafe();
  const untilCommit = (last: unknown) =>
    Effect.repeat(Effect.delay(commits, quietTime), { until: (found) => found !== last });
  const untilWritesWork = Effect.gen(function* () {
    let isRefused = true;
    while (isRefused) {
      refused.closeUnsafe();
      const last = yield* commits;
      isRefused = yield* Effect.raceFirst(
        Effect.as(refused.await, true),
        Effect.as(untilCommit(last), false),
      );
    }
  });
  const problem = "Cannot write: the disk of the database is full";
  yield* refused.await.pipe(
    Effect.andThen(Effect.annotateLogs(Effect.logError(problem), { file })),
    Effect.andThen(untilWritesWork),
    Effect.andThen(Effect.annotateLogs(Effect.logInfo("This works again"), { problem })),
    Effect.ignore,
    Effect.forever,
    Effect.forkScoped,
  );
  return () => refused.openUnsafe();
});
