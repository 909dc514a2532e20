/** What a plan changed on each of the last days: a JSON array in the row of the plan. */
import { areNone, noChanges, type PlanPlace, type RoleChanges, withChanges } from "@accountlink/core/roles";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Schema } from "effect";
import type { SqlClient } from "effect/sql";
import { isPlan } from "./is_plan.ts";

const Count = Schema.Int;

/** Null if the plan has changed nobody yet. */
export const ChangedDays = Schema.NullOr(
  Schema.fromJsonString(
    Schema.Array(Schema.Struct({ day: Count, rolesGiven: Count, rolesTaken: Count, nicknamesSet: Count })),
  ),
);

/** Adds what was changed of members to the plan's count of the day. */
export const countChanges = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  place: PlanPlace,
  days: typeof ChangedDays.Type,
  at: Millis,
  changes: RoleChanges = noChanges,
) {
  if (areNone(changes)) return;
  const counted = JSON.stringify(withChanges(days ?? [], at, changes));
  yield* sql`UPDATE role_plans SET changed_days = ${counted} WHERE ${isPlan(sql, place)}`;
});
