/**
 * The border of a store: every failure of the database leaves it as `StoreUnavailable`.
 */
import { StoreUnavailable } from "@accountlink/core";
import { Cause, Effect } from "effect";
import { SqlError } from "effect/sql";
import type { UnreadableRow } from "./row.ts";

/**
 * Names what is done and turns its failures into `StoreUnavailable`, those as well that `effect/sql` makes a defect of
 * because they befell a rollback. Other defects stay: they are bugs.
 */
export const operation =
  (name: string) =>
  <A, R>(
    effect: Effect.Effect<A, SqlError.SqlError | UnreadableRow, R>,
  ): Effect.Effect<A, StoreUnavailable, R> =>
    Effect.catchCause(effect, (cause) => {
      for (const reason of cause.reasons) {
        if (Cause.isFailReason(reason)) {
          return Effect.fail(new StoreUnavailable({ operation: name, cause: reason.error }));
        }
        if (Cause.isDieReason(reason) && SqlError.isSqlError(reason.defect)) {
          return Effect.fail(new StoreUnavailable({ operation: name, cause: reason.defect }));
        }
      }
      return Effect.failCause(cause as Cause.Cause<never>);
    });
