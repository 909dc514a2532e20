import { type EarlierRequest, IdempotencyStore } from "@accountlink/core/idempotency";
import { Array as Arr, Effect, Schema } from "effect";
import { batchSize, inBatches } from "./statements/in_batches.ts";
import { keepAnswerOn } from "./statements/keyed_write.ts";
import { schemaReaderOf } from "./statements/row.ts";
import { storeLayer } from "./statements/store_operation.ts";

export const layer = storeLayer(IdempotencyStore)((parts) => {
  const { sql, operation, asStep, isRemote, rowsWritten } = parts;
  const keep = keepAnswerOn(parts);
  return {
    keep,

    find: operation("find", (id) => {
      const found = sql`SELECT fingerprint, answer, ends_at FROM idempotency_keys WHERE id = ${id}`;
      return Effect.map(readEarlier(found), Arr.head);
    }),

    sweep: operation("sweep", function* (at) {
      // SQLite has no index of ends: its rows are in the order of their insertion, and all requests are kept equally long.
      const order = sql.literal(isRemote ? "ends_at" : "rowid");
      const batch = sql`
        DELETE FROM idempotency_keys WHERE id IN (
          SELECT id FROM (SELECT id, ends_at FROM idempotency_keys ORDER BY ${order} LIMIT ${batchSize}) AS oldest
          WHERE ends_at <= ${at})`;
      yield* inBatches(asStep(rowsWritten(batch)), 1);
    }),
  };
});

const readEarlier = schemaReaderOf(
  "idempotency_keys",
  Schema.Struct({ fingerprint: Schema.String, answer: Schema.NullOr(Schema.String), ends_at: Schema.Int }),
  ({ ends_at, ...row }): EarlierRequest => ({ ...row, endsAt: ends_at }),
);
