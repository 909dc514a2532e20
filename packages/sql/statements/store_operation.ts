/** The error boundary of the stores: maps database failures to `StoreUnavailable`. */
import { StoreUnavailable } from "@accountlink/core";
import { traced } from "@accountlink/core/telemetry";
import { Cause, type Context, Data, Effect, Layer } from "effect";
import { SqlClient, SqlConnection, SqlError } from "effect/sql";
import { type Dialect, dialectOf } from "./dialect.ts";
import { type OneStep, OneStepTransactions } from "./one_step.ts";
import type { UnreadableRow } from "./row.ts";

/**
 * Names and traces an operation of a store, and maps its failures to `StoreUnavailable`, including the defects with
 * which `effect/sql` reports a failed rollback. Retries once after a deadlock or a serialization failure.
 *
 * Errors that no retry can fix stay defects: bugs, unstorable text, and constraint violations, such as a scope that
 * does not exist.
 */
export const storeOperation =
  (name: string) =>
  <A, R>(effect: Effect.Effect<A, Failure, R>): Effect.Effect<A, StoreUnavailable, R> => {
    const attempt = (isLast: boolean): Effect.Effect<A, StoreUnavailable, R> =>
      Effect.matchCauseEffect(effect, {
        onSuccess: Effect.succeed,
        onFailure: (cause) => {
          const failure = failureIn(cause);
          if (failure === undefined) return Effect.failCause(cause as Cause.Cause<never>);
          if (!isLast && isConflict(failure)) return attempt(true);
          return isConstraint(failure)
            ? Effect.die(failure)
            : new StoreUnavailable({ operation: name, cause: failure, isLogged: isFullDisk(failure) });
        },
      });
    return traced(name)(attempt(false));
  };

/**
 * Makes the operations of a store from functions that return an effect or a generator. `transaction` runs a function as
 * one transaction, and `bulkTransaction` gives a transaction over many rows a longer timeout.
 */
export const operationsOf = (sql: SqlClient.SqlClient, store: string) => {
  const within =
    (around: Around) =>
    <Args extends ReadonlyArray<unknown>, A>(
      name: string,
      body: (...args: Args) => Effect.Effect<A, Ending> | Effect.fn.Return<A, Ending>,
    ): ((...args: Args) => Effect.Effect<A, StoreUnavailable>) => {
      const bounded = storeOperation(`${store}.${name}`);
      return (...args) => {
        const run = Effect.suspend(() => {
          const made = body(...args);
          return Effect.isEffect(made) ? made : Effect.gen(() => made);
        });
        return bounded(
          Effect.catchTag(around(run), "RolledBack", ({ answer }) => Effect.succeed(answer as A)),
        );
      };
    };
  const { asBulk } = dialectOf(sql);
  return {
    operation: within((effect) => effect),
    transaction: within(sql.withTransaction),
    bulkTransaction: within((effect) => asBulk(sql.withTransaction(effect))),
  };
};

export interface StoreParts extends Dialect, ReturnType<typeof operationsOf> {
  readonly sql: SqlClient.SqlClient;
  readonly connection: SqlConnection.Connection;
  readonly oneStep: OneStep | null;
}

/** Provides a storage port. Its operations are named and traced after the port. */
export const storeLayer =
  <Port, Store>(port: Context.Service<Port, Store>) =>
  (
    make: (parts: StoreParts) => Store,
  ): Layer.Layer<Port, never, SqlClient.SqlClient | SqlConnection.Connection> =>
    Layer.effect(
      port,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient;
        const connection = yield* SqlConnection.Connection;
        const name = port.key.slice(port.key.lastIndexOf("/") + 1);
        const oneStep = yield* OneStepTransactions;
        return make({ sql, connection, oneStep, ...dialectOf(sql), ...operationsOf(sql, name) });
      }),
    );

export type Ending = Failure | RolledBack;

type Around = <A>(effect: Effect.Effect<A, Ending>) => Effect.Effect<A, Ending>;

export class RolledBack extends Data.TaggedError("RolledBack")<{ readonly answer: unknown }> {}

/** Rolls the transaction of an operation back, and answers with `answer`. */
export const rollBack = <const A>(answer: A): Effect.Effect<A, RolledBack> => new RolledBack({ answer });

/**
 * An error because the disk of the database is full. Failed operations do not log this error, since `logFullDisk` logs
 * the full disk.
 */
export class FullDisk extends SqlError.ConnectionError {}

type Failure = SqlError.SqlError | UnreadableRow;

const failureIn = (cause: Cause.Cause<Failure>): Failure | undefined => {
  for (const reason of cause.reasons) {
    if (Cause.isFailReason(reason)) return reason.error;
    if (Cause.isDieReason(reason) && SqlError.isSqlError(reason.defect)) return reason.defect;
  }
  return undefined;
};

const isConstraint = (failure: Failure): boolean =>
  failure._tag === "SqlError" &&
  (failure.reason._tag === "ConstraintError" || failure.reason._tag === "UniqueViolation");

const isFullDisk = (failure: Failure): boolean =>
  failure._tag === "SqlError" && failure.reason instanceof FullDisk;

const isConflict = (failure: Failure): boolean =>
  failure._tag === "SqlError" &&
  (failure.reason._tag === "DeadlockError" || failure.reason._tag === "SerializationError");
