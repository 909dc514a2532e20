/** Processes any number of rows, in statements or transactions of limited size. */
import { Effect } from "effect";
import type { SqlClient, SqlError } from "effect/sql";
import { type Dialect, dialectOf, IsBulk } from "./dialect.ts";

/** Deleting a row of a table with random keys changes several pages of SQLite, so 500 rows would take 50 ms. */
export const batchSize = 100;

/**
 * Repeats a batch until it processes fewer rows than `full`, and returns the total number of rows. On SQLite, the batches
 * after the first one run in a thread, so that neither their statements nor their commits delay requests. Other requests can
 * be answered between batches, whereas a transaction of SQLite excludes all other writers until it ends.
 */
export const inBatches = Effect.fnUntraced(function* <E, R>(
  batch: Effect.Effect<number, E, R>,
  full = batchSize,
) {
  let rows = yield* batch;
  if (rows < full) return rows;
  const inThread = Effect.provideService(batch, IsBulk, true);
  while (true) {
    yield* Effect.yieldNow;
    const taken = yield* inThread;
    rows += taken;
    if (taken < full) return rows;
  }
});

/** Deletes all rows of a table that meet the condition, and returns their number. */
export const deleteInBatches = (
  sql: SqlClient.SqlClient,
  rows: Omit<Parameters<Dialect["deleteFirst"]>[0], "limit">,
): Effect.Effect<number, SqlError.SqlError> => {
  const { asStep, deleteFirst, rowsWritten } = dialectOf(sql);
  return inBatches(asStep(rowsWritten(deleteFirst({ ...rows, limit: batchSize }))));
};
