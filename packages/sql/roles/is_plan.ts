import type { PlanPlace } from "@accountlink/core/roles";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { deleteInBatches } from "../statements/in_batches.ts";

export const isPlan = (sql: SqlClient.SqlClient, { pid, guildId }: PlanPlace) =>
  sql`pid = ${pid} AND guild_id = ${guildId}`;

/** Deletes the members of a plan and their problems in steps. Later ones are left to the deletion of the plan. */
export const deleteMembers = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, place: PlanPlace) {
  const rows = { order: "chat_id", condition: isPlan(sql, place) };
  for (const [table, primaryKey] of [
    ["role_members", ["pid", "guild_id", "chat_id"]],
    ["role_problems", ["pid", "guild_id", "chat_id", "role_id"]],
  ] as const) {
    yield* deleteInBatches(sql, { ...rows, table, primaryKey });
  }
});
