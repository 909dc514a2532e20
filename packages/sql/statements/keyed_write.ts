/** Writes with an idempotency key, which is stored in the transaction of the write. */
import { type ChatId, Conflict, type StoreUnavailable } from "@accountlink/core";
import {
  type IdempotentRequest,
  type KeptAnswer,
  type Keyed,
  keptOutcome,
  type Once,
} from "@accountlink/core/idempotency";
import type { Millis } from "@accountlink/core/timestamp";
import { Clock, Effect } from "effect";
import { type SqlClient, SqlError, type Statement } from "effect/sql";
import type { StepStatements } from "./one_step.ts";
import { literalSql } from "./row.ts";
import { type Ending, rollBack, type StoreParts } from "./store_operation.ts";

/**
 * Makes a write of a store from the body of its transaction. A `Conflict` for which the body rolls back is the failure of
 * the write.
 *
 * @param kind `bulkTransaction` for a write that may take a minute
 * @returns a function of the name, of a function that returns the kept part of an outcome (null for a refusal, which is
 * rolled back), and of the body
 */
export const keyedWriteOn =
  (parts: StoreParts, kind: "transaction" | "bulkTransaction" = "transaction") =>
  <O, W extends Keyed>(
    name: string,
    keptOf: (outcome: O, write: W) => unknown,
    body: (write: W) => Effect.fn.Return<O, Ending>,
  ): ((write: W) => Effect.Effect<O, StoreUnavailable | Conflict>) => {
    const run = parts[kind](name, function* (write: W) {
      const { once } = write;
      if (once !== undefined && !(yield* takeKey(parts, once))) return yield* rollBack(keyInUse());
      const outcome = yield* body(write);
      if (once === undefined) return outcome;
      const kept = keptOf(outcome, write);
      if (kept === null) return yield* rollBack(outcome);
      yield* keepAnswer(parts.sql, once, keptOutcome(once, kept));
      return outcome;
    });
    return (write) => Effect.flatMap(run(write), orConflict);
  };

/**
 * Makes a write of a store that runs in one step on a database in this process.
 *
 * @param keptOf as in `keyedWriteOn`
 * @param step runs the statements of the write, before the key is kept; returns null if `body` has to run
 * @param body the same write as a transaction, for other databases, and where another transaction has the turn, the key is
 * taken, or the write is refused
 */
export const keyedStepOn =
  (parts: StoreParts) =>
  <O, W extends Keyed>(
    name: string,
    keptOf: (outcome: O, write: W) => unknown,
    step: (statements: StepStatements, write: W, now: Millis) => O | null,
    body: (write: W) => Effect.fn.Return<O, Ending>,
  ): ((write: W) => Effect.Effect<O, StoreUnavailable | Conflict>) => {
    const { oneStep, operation } = parts;
    const whole = keyedWriteOn(parts)(name, keptOf, body);
    if (oneStep === null) return whole;
    const atOnce = operation(name, (write: W) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        oneStep((statements) => {
          const outcome = step(statements, write, now);
          if (outcome === null || write.once === undefined) return outcome;
          const kept = keptOf(outcome, write);
          return kept !== null && keepNow(statements, write.once, kept) ? outcome : null;
        }),
      ),
    );
    return (write) =>
      Effect.flatMap(atOnce(write), (outcome) => (outcome === null ? whole(write) : Effect.succeed(outcome)));
  };

/** Keeps the request with its answer, and returns whether no other request has the key. */
const keepNow = (statements: StepStatements, once: Once, kept: unknown): boolean => {
  const { answer, chatIds } = keptOutcome(once, kept);
  const named = namedIn([...once.chatIds, ...chatIds]);
  const { id, fingerprint, endsAt, at } = once;
  return statements.all(keepingNow, [id, fingerprint, answer, named, endsAt, at]).length > 0;
};

/** Follows an INSERT of a request: replaces one whose time is over at the time that follows. */
const replacingEnded = `
  ON CONFLICT (id) DO UPDATE SET
    fingerprint = excluded.fingerprint, answer = excluded.answer, chat_ids = excluded.chat_ids, ends_at = excluded.ends_at
  WHERE idempotency_keys.ends_at <=`;

const keepingNow = `
  INSERT INTO idempotency_keys (id, fingerprint, answer, chat_ids, ends_at) VALUES (?, ?, ?, ?, ?)
  ${replacingEnded} ? RETURNING 1`;

/** Fails with a conflict that a transaction was rolled back with. */
export const orConflict = <O>(outcome: O | Conflict) =>
  outcome instanceof Conflict ? Effect.fail(outcome) : Effect.succeed(outcome);

/** Makes `IdempotencyStore.keep`. */
export const keepAnswerOn = (parts: StoreParts) => {
  const run = parts.transaction("keep", function* (request: IdempotentRequest, kept: KeptAnswer) {
    if (!(yield* takeKey(parts, request))) return yield* rollBack(keyInUse());
    yield* keepAnswer(parts.sql, request, kept);
    return undefined;
  });
  return (request: IdempotentRequest, kept: KeptAnswer) => Effect.flatMap(run(request, kept), orConflict);
};

/** Whether no other request has the key now. For work before the transaction that takes the key. */
export const isKeyFree = (sql: SqlClient.SqlClient, request: IdempotentRequest | undefined) => {
  if (request === undefined) return Effect.succeed(true);
  const { id, at } = request;
  const taken = sql`SELECT 1 FROM idempotency_keys WHERE id = ${id} AND ends_at > ${at}`;
  return Effect.map(taken, (rows) => rows.length === 0);
};

export const keyInUse = () => new Conflict({ reason: "idempotency_key_in_use" });

/** Takes the key, and waits for another transaction that takes it. Returns whether the key was free. */
const takeKey = ({ sql, usersInUse }: StoreParts, request: IdempotentRequest) => {
  const users = usersInUse(request.chatIds);
  const taken = sql`
    ${insertRequest(sql, request, sql`NULL`, sql`FROM ${users} WHERE locks >= 0`)}
    ${literalSql(replacingEnded)} ${request.at} RETURNING id`;
  return Effect.catchIf(
    Effect.map(taken, (rows) => rows.length > 0),
    isTakenKey,
    () => Effect.succeed(false),
  );
};

const keepAnswer = (
  sql: SqlClient.SqlClient,
  request: IdempotentRequest,
  { answer, chatIds }: KeptAnswer,
) => {
  const named = namedIn([...request.chatIds, ...chatIds]);
  return sql`UPDATE idempotency_keys SET answer = ${answer}, chat_ids = ${named} WHERE id = ${request.id}`;
};

/**
 * Inserts the request with its answer.
 *
 * @param from the clause FROM of the row
 */
export const insertRequest = (
  sql: SqlClient.SqlClient,
  { id, fingerprint, chatIds, endsAt }: IdempotentRequest,
  answer: Statement.Fragment,
  from: Statement.Fragment,
): Statement.Fragment => sql`
  INSERT INTO idempotency_keys (id, fingerprint, answer, chat_ids, ends_at)
  SELECT ${id}, ${fingerprint}, ${answer}, ${namedIn(chatIds)}, ${endsAt} ${from}`;

/** The users of a request, as text. Indexes have three of them, by which an erasure finds the request. */
const namedIn = (chatIds: ReadonlyArray<ChatId>): string => {
  const named = [...new Set(chatIds)];
  if (named.length > 3) throw new Error(`Cannot keep a request of ${named.length} users, expected at most 3`);
  return JSON.stringify(named);
};

/** Whether a write failed because another request has its idempotency key, or is being stored with it. */
export const isTakenKey = (error: unknown): error is SqlError.SqlError =>
  SqlError.isSqlError(error) &&
  (error.reason._tag === "LockTimeoutError" ||
    (error.reason._tag === "UniqueViolation" && error.reason.constraint.includes("idempotency_keys")));
