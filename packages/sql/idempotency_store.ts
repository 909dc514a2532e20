import {
  type Claim,
  type EarlierRequest,
  IdempotencyStore,
  type KeptAnswer,
  type NewClaim,
} from "@accountlink/core/idempotency";
import { Array as Arr, Data, Effect, Layer, Option, Result, Schema } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "./statements/dialect.ts";
import { deleteInBatches } from "./statements/in_batches.ts";
import { schemaReaderOf } from "./statements/row.ts";
import { storeOperation } from "./statements/store_operation.ts";

export const layer: Layer.Layer<IdempotencyStore, never, SqlClient.SqlClient> = Layer.effect(
  IdempotencyStore,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const [claim, find] = [claimOn(sql), findOn(sql)];
    const { usersInUse, withBulkTimeout } = dialectOf(sql);
    const inUse = usersInUse(sql`chat_ids`);
    /** A WHERE condition: the claim of a request that has no answer yet. */
    const isHeldBy = ({ id, requestId }: Claim) =>
      sql`id = ${id} AND request_id = ${requestId} AND answer IS NULL`;

    return IdempotencyStore.of({
      claim: (write) => claim(write).pipe(storeOperation("IdempotencyStore.claim")),
      find: (id) => find(id).pipe(storeOperation("IdempotencyStore.find")),

      extend: (held, heldUntil) =>
        sql`UPDATE idempotency_keys SET held_until = ${heldUntil} WHERE ${isHeldBy(held)}`.pipe(
          Effect.asVoid,
          storeOperation("IdempotencyStore.extend"),
        ),

      commit: <O, E>(held: Claim, write: Effect.Effect<readonly [O, KeptAnswer], E>, size?: "bulk") => {
        const transaction = Effect.gen(function* () {
          if (held.chatIds.length > 0) yield* sql`SELECT locks FROM ${chatIdsOn(sql, held)}, ${inUse}`;
          const [outcome, { answer, chatIds, endsAt }] = yield* Effect.mapError(
            write,
            (error) => new WriteFailed({ error }),
          );
          // The claim is locked last, so that it is not locked while `write` waits for other locks.
          const kept = yield* sql`
            UPDATE idempotency_keys
            SET answer = ${answer}, chat_ids = ${JSON.stringify(chatIds)}, ends_at = ${endsAt}, held_until = NULL
            WHERE ${isHeldBy(held)} RETURNING id`;
          return kept.length === 0 ? yield* new ClaimLost() : outcome;
        }).pipe(sql.withTransaction);
        return (size === "bulk" ? withBulkTimeout(transaction) : transaction).pipe(
          Effect.map((outcome) => Result.succeed(Option.some(outcome))),
          Effect.catchTags({
            ClaimLost: () => Effect.succeed(Result.succeed(Option.none<O>())),
            WriteFailed: ({ error }) => Effect.succeed(Result.fail(error as E)),
          }),
          storeOperation("IdempotencyStore.commit"),
          Effect.flatMap((committed) => Effect.fromResult(committed)),
        );
      },

      release: (held) =>
        sql`UPDATE idempotency_keys SET request_id = '', held_until = 0 WHERE ${isHeldBy(held)}`.pipe(
          Effect.asVoid,
          storeOperation("IdempotencyStore.release"),
        ),

      sweep: (at) =>
        deleteInBatches(sql, {
          table: "idempotency_keys",
          primaryKey: ["id"],
          order: "ends_at",
          condition: sql`ends_at <= ${at}`,
        }).pipe(Effect.asVoid, storeOperation("IdempotencyStore.sweep")),
    });
  }),
);

/** `ClaimLost` and `WriteFailed` make `commit` roll back its transaction. */
class ClaimLost extends Data.TaggedError("ClaimLost") {}
class WriteFailed extends Data.TaggedError("WriteFailed")<{ readonly error: unknown }> {}

/** A table of one row, whose column `chat_ids` can be the argument of `usersInUse` and `usersIfFree`. */
const chatIdsOn = (sql: SqlClient.SqlClient, { chatIds }: Claim) =>
  sql`(SELECT CAST(${JSON.stringify(chatIds)} AS TEXT) AS chat_ids) AS request`;

const claimOn = (sql: SqlClient.SqlClient) => {
  const ifFree = dialectOf(sql).usersIfFree(sql`chat_ids`);
  const find = findOn(sql);
  return Effect.fnUntraced(function* (claim: NewClaim) {
    const { id, requestId, fingerprint, at, heldUntil, endsAt } = claim;
    while (true) {
      // A request that arrives while its user is being erased is stored as erased.
      const [claimed] = yield* sql`
        INSERT INTO idempotency_keys (id, request_id, fingerprint, answer, chat_ids, held_until, ends_at, erased)
        SELECT
          ${id},
          CASE WHEN free = 1 THEN ${requestId} ELSE '' END,
          ${fingerprint},
          NULL,
          CASE WHEN free = 1 THEN chat_ids ELSE '[]' END,
          CASE WHEN free = 1 THEN CAST(${heldUntil} AS BIGINT) END,
          ${endsAt},
          1 - free
        FROM ${chatIdsOn(sql, claim)}, ${ifFree} WHERE free >= 0
        ON CONFLICT (id) DO UPDATE SET
          request_id = excluded.request_id,
          fingerprint = excluded.fingerprint,
          answer = NULL,
          chat_ids = excluded.chat_ids,
          held_until = excluded.held_until,
          ends_at = excluded.ends_at,
          erased = excluded.erased
        WHERE COALESCE(idempotency_keys.held_until, idempotency_keys.ends_at) <= ${at}
        RETURNING erased`;
      if (claimed?.["erased"] === 1) return Option.some({ fingerprint, answer: null, isErased: true });
      if (claimed !== undefined) return Option.none();
      const earlier = yield* find(id);
      // An earlier request holds the row. If a sweep has deleted that row since the INSERT, try again.
      if (Option.isSome(earlier)) return earlier;
    }
  });
};

const findOn = (sql: SqlClient.SqlClient) => (id: Claim["id"]) =>
  sql`SELECT fingerprint, answer, erased FROM idempotency_keys WHERE id = ${id}`.pipe(
    Effect.flatMap(readEarlier),
    Effect.map(Arr.head),
  );

const readEarlier = schemaReaderOf(
  "idempotency_keys",
  Schema.Struct({ fingerprint: Schema.String, answer: Schema.NullOr(Schema.String), erased: Schema.Int }),
  ({ erased, ...row }): EarlierRequest => ({ ...row, isErased: erased === 1 }),
);
