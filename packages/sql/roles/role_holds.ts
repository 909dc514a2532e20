/** Assigns role plans to the nodes that work on them. */
import type { HoldItems } from "@accountlink/core/roles";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { leasesOn } from "../statements/leases.ts";
import { planColumns, planTables, readHeldPlans, sweepColumns } from "./role_row.ts";

export const holdPlansOn = (sql: SqlClient.SqlClient) => {
  // `guild_id` is unique among the plans that are on.
  const lease = leasesOn(sql, {
    table: "role_plans",
    key: "guild_id",
    nodes: "role_plan_nodes",
    isNeeded: sql`state = 'on'`,
  });
  const [columns, sweep, tables] = [
    sql.literal(planColumns),
    sql.literal(sweepColumns),
    sql.literal(planTables),
  ];

  return Effect.fnUntraced(function* (hold: HoldItems) {
    if (!(yield* lease(hold))) return [];
    return yield* Effect.flatMap(
      sql`
        SELECT ${columns}, ${sweep}, role_plans.position, role_plans.revision,
          (SELECT MIN(due_at) FROM role_members
            WHERE pid = role_plans.pid AND guild_id = role_plans.guild_id AND due_at IS NOT NULL) AS next_due_at,
          (SELECT MIN(since) FROM role_members
            WHERE pid = role_plans.pid AND guild_id = role_plans.guild_id AND since IS NOT NULL) AS oldest_since
        FROM ${tables} JOIN accounts ON accounts.name = scopes.account
        WHERE role_plans.holder = ${hold.node} AND role_plans.state = 'on' AND accounts.status = 'active'
        ORDER BY role_plans.pid, role_plans.guild_id`,
      readHeldPlans,
    );
  });
};
