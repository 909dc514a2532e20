import {
  type EarlierRequest,
  IdempotencyStore,
  type IdempotentWrite,
  type KeptAnswer,
} from "@accountlink/core/idempotency";
import { Array as Arr, Effect, Option, Result, Schema } from "effect";
import { SqlClient, SqlError, type Statement } from "effect/sql";
import { deleteInBatches } from "./statements/in_batches.ts";
import { schemaReaderOf } from "./statements/row.ts";
import { rollBack, storeLayer } from "./statements/store_operation.ts";

export const layer = storeLayer(IdempotencyStore)((parts) => {
  const { sql, operation, transaction, usersInUse, asBulk } = parts;
  /** Takes the key, and waits for another transaction that takes it. Returns whether the key was free. */
  const takeKey = (request: IdempotentWrite) => {
    const users = usersInUse(JSON.stringify(request.chatIds));
    const taken = sql`
      ${insertRequest(sql, request, sql`NULL`, sql`FROM ${users} WHERE locks >= 0`)}
    ON CONFLICT (id) DO UPDATE SET
      request_id = '', fingerprint = excluded.fingerprint, answer = NULL, chat_ids = excluded.chat_ids,
      held_until = NULL, ends_at = excluded.ends_at, erased = 0
    WHERE idempotency_keys.ends_at <= ${request.at}
      OR (idempotency_keys.answer IS NULL AND idempotency_keys.erased = 0)
    RETURNING id`;
    return Effect.catchIf(
      Effect.map(taken, (rows) => rows.length > 0),
      isTakenKey,
      () => Effect.succeed(false),
    );
  };

  return {
    commit: <O, E>(
      request: IdempotentWrite,
      write: Effect.Effect<readonly [O, KeptAnswer], E>,
      size?: "bulk",
    ) => {
      const result = Effect.result(write);
      const commit = transaction("commit", function* () {
        if (!(yield* takeKey(request))) return yield* rollBack(Result.succeed(Option.none<O>()));
        const written = yield* size === "bulk" ? asBulk(result) : result;
        if (Result.isFailure(written)) return yield* rollBack(Result.fail(written.failure));
        const [outcome, { answer, chatIds }] = written.success;
        const named = JSON.stringify([...new Set([...request.chatIds, ...chatIds])]);
        yield* sql`UPDATE idempotency_keys SET answer = ${answer}, chat_ids = ${named} WHERE id = ${request.id}`;
        return Result.succeed(Option.some(outcome));
      });
      return Effect.flatMap(commit(), (committed) => Effect.fromResult(committed));
    },

    find: operation("find", (id) => {
      const found = sql`SELECT fingerprint, answer, erased, ends_at FROM idempotency_keys WHERE id = ${id}`;
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

/**
 * Inserts the request with its answer. `request_id` is for nodes of earlier releases.
 *
 * @param from the clause FROM of the row
 */
export const insertRequest = (
  sql: SqlClient.SqlClient,
  { id, fingerprint, chatIds, endsAt }: IdempotentWrite,
  answer: Statement.Fragment,
  from: Statement.Fragment,
): Statement.Fragment => sql`
  INSERT INTO idempotency_keys (id, request_id, fingerprint, answer, chat_ids, ends_at)
  SELECT ${id}, '', ${fingerprint}, ${answer}, ${JSON.stringify(chatIds)}, ${endsAt} ${from}`;

/** Whether a write failed because another request has its idempotency key, or is being stored with it. */
export const isTakenKey = (error: unknown): error is SqlError.SqlError =>
  SqlError.isSqlError(error) &&
  (error.reason._tag === "LockTimeoutError" ||
    (error.reason._tag === "UniqueViolation" && error.reason.constraint.includes("idempotency_keys")));

const readEarlier = schemaReaderOf(
  "idempotency_keys",
  Schema.Struct({
    fingerprint: Schema.String,
    answer: Schema.NullOr(Schema.String),
    erased: Schema.Int,
    ends_at: Schema.Int,
  }),
  ({ erased, ends_at, ...row }): EarlierRequest => ({ ...row, isErased: erased === 1, endsAt: ends_at }),
);
