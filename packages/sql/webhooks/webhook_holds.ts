/** Assigns webhooks to the nodes that send them. */
import type { HoldItems } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { leasesOn } from "../statements/leases.ts";
import { readHeldWebhooks, webhookColumns, webhookTables } from "./webhook_row.ts";

export const holdWebhooksOn = (sql: SqlClient.SqlClient) => {
  const lease = leasesOn(sql, {
    table: "webhooks",
    key: "id",
    nodes: "webhook_nodes",
    isNeeded: sql`1 = 1`,
  });
  const [columns, tables] = [sql.literal(webhookColumns), sql.literal(webhookTables)];

  return Effect.fnUntraced(function* (hold: HoldItems) {
    if (!(yield* lease(hold))) return [];
    return yield* Effect.flatMap(
      sql`
        SELECT ${columns},
          (SELECT MIN(next_attempt_at) FROM webhook_deliveries
            WHERE webhook_id = webhooks.id AND next_attempt_at IS NOT NULL) AS next_attempt_at,
          (SELECT MIN(at) FROM webhook_deliveries
            WHERE webhook_id = webhooks.id AND status IN ('failing', 'waiting')) AS oldest_failing_at
        FROM ${tables} JOIN accounts ON accounts.name = scopes.account
        WHERE webhooks.holder = ${hold.node} AND webhooks.status = 'active' AND accounts.status = 'active'
        ORDER BY webhooks.id`,
      readHeldWebhooks,
    );
  });
};
