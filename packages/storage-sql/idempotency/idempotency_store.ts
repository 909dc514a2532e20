/** `IdempotencyStore` in SQL. */
import {
  type Claim,
  type EarlierRequest,
  IdempotencyStore,
  type KeptWrite,
  type NewClaim,
} from "@accountlink/core/idempotency";
import type { Millis } from "@accountlink/core/timestamp";
import { Data, Effect, Layer, Option, Result, Schema } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { batchSize, inBatches } from "../statements/in_batches.ts";
import { operation } from "../statements/operation.ts";
import { schemaReaderOf } from "../statements/row.ts";

export const layer: Layer.Layer<IdempotencyStore, never, SqlClient.SqlClient> = Layer.effect(
  IdempotencyStore,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const [claim, sweep] = [claimOn(sql), sweepOn(sql)];
    /** After WHERE: the claim of a request that has no answer. */
    const isHeldBy = ({ id, requestId }: Claim) =>
      sql`id = ${id} AND request_id = ${requestId} AND answer IS NULL`;

    return IdempotencyStore.of({
      claim: (write) => claim(write).pipe(operation("IdempotencyStore.claim")),

      extend: (held, endsAt) =>
        sql`UPDATE idempotency_keys SET ends_at = ${endsAt} WHERE ${isHeldBy(held)}`.pipe(
          Effect.asVoid,
          operation("IdempotencyStore.extend"),
        ),

      commit: <O, E>(held: Claim, { write, answerOf, isBulk }: KeptWrite<O, E>) => {
        const transaction = Effect.gen(function* () {
          const outcome = yield* Effect.mapError(write, (error) => new WriteFailed({ error }));
          const { answer, chatIds, endsAt } = yield* answerOf(outcome);
          // Last, so that a claim is never locked while its write waits.
          const kept = yield* sql`
            UPDATE idempotency_keys
            SET answer = ${answer}, chat_ids = ${JSON.stringify(chatIds)}, ends_at = ${endsAt}
            WHERE ${isHeldBy(held)} RETURNING id`;
          return kept.length === 0 ? yield* new ClaimLost() : outcome;
        }).pipe(sql.withTransaction);
        return (isBulk ? dialectOf(sql).withBulkTimeout(transaction) : transaction).pipe(
          Effect.map((outcome) => Result.succeed(Option.some(outcome))),
          Effect.catchTags({
            ClaimLost: () => Effect.succeed(Result.succeed(Option.none<O>())),
            WriteFailed: ({ error }) => Effect.succeed(Result.fail(error as E)),
          }),
          operation("IdempotencyStore.commit"),
          Effect.flatMap((committed) => Effect.fromResult(committed)),
        );
      },

      release: (held) =>
        sql`DELETE FROM idempotency_keys WHERE ${isHeldBy(held)}`.pipe(
          Effect.asVoid,
          operation("IdempotencyStore.release"),
        ),

      sweep: (at) => sweep(at).pipe(Effect.asVoid, operation("IdempotencyStore.sweep")),
    });
  }),
);

/** These two roll the transaction of a commit back. */
class ClaimLost extends Data.TaggedError("ClaimLost") {}
class WriteFailed extends Data.TaggedError("WriteFailed")<{ readonly error: unknown }> {}

const claimOn = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* ({ id, requestId, fingerprint, at, endsAt }: NewClaim) {
    while (true) {
      const claimed = yield* sql`
        INSERT INTO idempotency_keys (id, request_id, fingerprint, answer, chat_ids, ends_at)
        VALUES (${id}, ${requestId}, ${fingerprint}, NULL, '[]', ${endsAt})
        ON CONFLICT (id) DO UPDATE SET
          request_id = excluded.request_id,
          fingerprint = excluded.fingerprint,
          answer = NULL,
          chat_ids = excluded.chat_ids,
          ends_at = excluded.ends_at
        WHERE idempotency_keys.ends_at <= ${at}
        RETURNING id`;
      if (claimed.length > 0) return Option.none<EarlierRequest>();
      const [earlier] = yield* Effect.flatMap(
        sql`SELECT fingerprint, answer FROM idempotency_keys WHERE id = ${id}`,
        readEarlier,
      );
      // Otherwise, it was released between the two statements.
      if (earlier !== undefined) return Option.some(earlier);
    }
  });

const readEarlier = schemaReaderOf(
  "idempotency_keys",
  Schema.Struct({ fingerprint: Schema.String, answer: Schema.NullOr(Schema.String) }),
  (row): EarlierRequest => row,
);

const sweepOn = (sql: SqlClient.SqlClient) => {
  const { firstRows, rowsWritten } = dialectOf(sql);
  return (at: Millis) => {
    const ended = firstRows({
      table: "idempotency_keys",
      primaryKey: ["id"],
      order: "ends_at",
      condition: sql`ends_at <= ${at}`,
      limit: batchSize,
    });
    return inBatches(Effect.map(sql`DELETE FROM idempotency_keys ${ended}`.raw, rowsWritten));
  };
};
