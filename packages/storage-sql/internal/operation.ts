/**
 * The border of a store: every failure of the database leaves it as `StoreUnavailable`.
 */
import { StoreUnavailable } from "@accountlink/core";
import { Cause, Effect } from "effect";
import { SqlError } from "effect/sql";
import type { UnreadableRow } from "./row.ts";
import { assertStorable } from "./storable_text.ts";

/**
 * Names what is done and turns its failures into `StoreUnavailable`, those as well that `effect/sql` makes a defect of
 * because they befell a rollback.
 *
 * A defect is what no second try would mend: bugs, text that no store holds, and what the schema refuses, such as a
 * scope that does not exist.
 *
 * @param texts what the caller gave as free text
 */
export const operation =
  (name: string, ...texts: ReadonlyArray<string>) =>
  <A, R>(effect: Effect.Effect<A, Failure, R>): Effect.Effect<A, StoreUnavailable, R> =>
    Effect.catchCause(
      texts.length === 0 ? effect : Effect.andThen(assertStorable(texts), effect),
      (cause) => {
        const failure = failureIn(cause);
        if (failure === undefined) return Effect.failCause(cause as Cause.Cause<never>);
        return isRefusal(failure)
          ? Effect.die(failure)
          : Effect.fail(new StoreUnavailable({ operation: name, cause: failure }));
      },
    );

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
