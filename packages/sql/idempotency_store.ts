import { type EarlierRequest, IdempotencyStore, type Keyed } from "@accountlink/core/idempotency";
import { Array as Arr, Effect, Schema } from "effect";
import { deleteInBatches } from "./statements/in_batches.ts";
import { keyedWriteOn } from "./statements/keyed_write.ts";
import { schemaReaderOf } from "./statements/row.ts";
import { storeLayer } from "./statements/store_operation.ts";

export const layer = storeLayer(IdempotencyStore)((parts) => {
  const { sql, operation } = parts;
  const keep = keyedWriteOn(parts)("keep", function* (_: Keyed<void>) {});
  return {
    keep: (request, answer) => keep({ once: { ...request, answerOf: () => Effect.succeed(answer) } }),

    find: operation("find", (id) => {
      const found = sql`SELECT fingerprint, answer, ends_at FROM idempotency_keys WHERE id = ${id}`;
      return Effect.map(readEarlier(found), Arr.head);
    }),

    sweep: operation("sweep", function* (at) {
      yield* deleteInBatches(sql, {
        table: "idempotency_keys",
        primaryKey: ["id"],
        order: "ends_at",
        condition: sql`ends_at <= ${at}`,
      });
    }),
  };
});

const readEarlier = schemaReaderOf(
  "idempotency_keys",
  Schema.Struct({ fingerprint: Schema.String, answer: Schema.NullOr(Schema.String), ends_at: Schema.Int }),
  ({ ends_at, ...row }): EarlierRequest => ({ ...row, endsAt: ends_at }),
);
