/** Processes any number of rows, in statements or transactions of limited size. */
import { Effect } from "effect";

export const batchSize = 500;

/**
 * Repeats a batch until it processes fewer rows than `full`, and returns the total. Requests are answered between
 * batches: the statements of `node:sqlite` block the process.
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
