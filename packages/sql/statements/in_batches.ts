/** Processes any number of rows, in statements or transactions of limited size. */
import { Effect } from "effect";
import type { SqlClient, SqlError } from "effect/sql";
import { type Dialect, dialectOf } from "./dialect.ts";

export const batchSize = 500;

/**
 * Repeats a batch until it processes fewer rows than `full`, and returns the total number of rows. Other requests can
 * be answered between batches, whereas a statement of `node:sqlite` blocks the process until it ends.
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

/** Deletes all rows of a table that meet the condition, and returns their number. */
export const deleteInBatches = (
  sql: SqlClient.SqlClient,
  rows: Omit<Parameters<Dialect["firstRows"]>[0], "limit">,
): Effect.Effect<number, SqlError.SqlError> => {
  const { firstRows, rowsWritten } = dialectOf(sql);
  const batch = firstRows({ ...rows, limit: batchSize });
  return inBatches(Effect.map(sql`DELETE FROM ${sql(rows.table)} ${batch}`.raw, rowsWritten));
};
