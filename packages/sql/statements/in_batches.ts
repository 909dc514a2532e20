/** Work on any number of rows, in statements or transactions of a bounded size. */
import { Effect } from "effect";

/** How many rows a batch takes. */
export const batchSize = 500;

/**
 * Repeats a batch until it takes fewer rows than this, and returns how many all of them took. Requests
 * are answered between two batches: the statements of `node:sqlite` hold up the process.
 */
export const inBatches = Effect.fnUntraced(function* <E, R>(
  batch: Effect.Effect<number, E, R>,
  full = batchSize,
) {
  let rows = 0;
  while (true) {
    const taken = yield* batch;
    rows += taken;
    if (taken < full) return rows;
    yield* Effect.yieldNow;
  }
});
