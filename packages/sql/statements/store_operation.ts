/** The error boundary of the stores: maps database failures to `StoreUnavailable`. */
import { StoreUnavailable } from "@accountlink/core";
import { assertStorable } from "@accountlink/core/storable_text";
import { traced } from "@accountlink/core/telemetry";
import { Cause, Effect } from "effect";
import { SqlError } from "effect/sql";
import type { UnreadableRow } from "./row.ts";

/**
 * Names and traces an operation of a store, and maps its failures to `StoreUnavailable`, including the defects with
 * which `effect/sql` reports a failed rollback. Retries once after a deadlock or a serialization failure.
 *
 * Errors that no retry can fix stay defects: bugs, unstorable text, and constraint violations, such as a scope that
 * does not exist.
 *
 * @param texts texts from the caller. If a text cannot be stored, the operation dies before it runs
 */
export const storeOperation =
  (name: string, ...texts: ReadonlyArray<string>) =>
  <A, R>(effect: Effect.Effect<A, Failure, R>): Effect.Effect<A, StoreUnavailable, R> => {
    const checked =
      texts.length === 0
        ? effect
        : Effect.andThen(
            Effect.sync(() => assertStorable(texts)),
            effect,
          );
    const attempt = (isLast: boolean): Effect.Effect<A, StoreUnavailable, R> =>
      Effect.matchCauseEffect(checked, {
        onSuccess: Effect.succeed,
        onFailure: (cause) => {
          const failure = failureIn(cause);
          if (failure === undefined) return Effect.failCause(cause as Cause.Cause<never>);
          if (!isLast && isConflict(failure)) return attempt(true);
          return isConstraint(failure)
            ? Effect.die(failure)
            : Effect.fail(
                new StoreUnavailable({ operation: name, cause: failure, isLogged: isFullDisk(failure) }),
              );
        },
      });
    return traced(name)(attempt(false));
  };

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
