/**
 * The border of a store: every failure of the database leaves it as `StoreUnavailable`.
 */
import { StoreUnavailable, traced } from "@accountlink/core";
import { Cause, Effect } from "effect";
import { SqlError } from "effect/sql";
import type { UnreadableRow } from "./row.ts";
import { assertStorable } from "./storable_text.ts";

/**
 * Names what is done and turns its failures into `StoreUnavailable`, those as well that `effect/sql` makes a defect of
 * because they befell a rollback. A transaction that the database gave up for the sake of another one is tried once more.
 *
 * A defect is what no second try would mend: bugs, text that no store holds, and what the schema refuses, such as a
 * scope that does not exist.
 *
 * @param texts what the caller gave as free text
 */
export const operation =
  (name: string, ...texts: ReadonlyArray<string>) =>
  <A, R>(effect: Effect.Effect<A, Failure, R>): Effect.Effect<A, StoreUnavailable, R> => {
    const checked = texts.length === 0 ? effect : Effect.andThen(assertStorable(texts), effect);
    const attempt = (isLast: boolean): Effect.Effect<A, StoreUnavailable, R> =>
      Effect.catchCause(checked, (cause) => {
        const failure = failureIn(cause);
        if (failure === undefined) return Effect.failCause(cause as Cause.Cause<never>);
        if (!isLast && isOvertaken(failure)) return attempt(true);
        return isRefusal(failure)
          ? Effect.die(failure)
          : Effect.fail(new StoreUnavailable({ operation: name, cause: failure }));
      });
    return traced(name)(attempt(false));
  };

type Failure = SqlError.SqlError | UnreadableRow;

const failureIn = (cause: Cause.Cause<Failure>): Failure | undefined => {
  for (const reason of cause.reasons) {
    if (Cause.isFailReason(reason)) return reason.error;
    if (Cause.isDieReason(reason) && SqlError.isSqlError(reason.defect)) return reason.defect;
  }
  return undefined;
};

const isRefusal = (failure: Failure): boolean =>
  failure._tag === "SqlError" &&
  (failure.reason._tag === "ConstraintError" || failure.reason._tag === "UniqueViolation");

const isOvertaken = (failure: Failure): boolean =>
  failure._tag === "SqlError" &&
  (failure.reason._tag === "DeadlockError" || failure.reason._tag === "SerializationError");
