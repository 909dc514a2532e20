import { type HoldItems, WebhookStore } from "@accountlink/core/webhooks";
import { Array as Arr, Effect, Layer } from "effect";
import { SqlClient, type Statement } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { leasesOn } from "../statements/leases.ts";
import { storeOperation } from "../statements/store_operation.ts";
import { deliveryOperations } from "./delivery_operations.ts";
import {
  readHeldWebhooks,
  readWebhookDetails,
  readWebhooks,
  webhookColumns,
  webhookTables,
} from "./webhook_row.ts";
import { webhookWrites } from "./webhook_writes.ts";

export const layer: Layer.Layer<WebhookStore, never, SqlClient.SqlClient> = Layer.effect(
  WebhookStore,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const pending = pendingCount(sql);
    const hold = holdWebhooksOn(sql);
    return WebhookStore.of({
      ...webhookWrites(sql),
      ...deliveryOperations(sql),

      find: (id) =>
        sql`SELECT ${webhookColumns} FROM ${webhookTables} WHERE webhooks.id = ${id}`.pipe(
          Effect.flatMap(readWebhooks),
          Effect.map(Arr.head),
          storeOperation("WebhookStore.find"),
        ),

      list: ({ account, id }) => {
        const isOfAccount = account === null ? sql`1 = 1` : sql`scopes.account = ${account}`;
        const isMeant = id === null ? isOfAccount : sql`${isOfAccount} AND webhooks.id = ${id}`;
        return sql`
          SELECT ${webhookColumns}, ${pending} AS pending FROM ${webhookTables} WHERE ${isMeant}
          ORDER BY webhooks.created_at, webhooks.id`.pipe(
          Effect.flatMap(readWebhookDetails),
          storeOperation("WebhookStore.list", account ?? "", id ?? ""),
        );
      },

      hold: (write) => hold(write).pipe(storeOperation("WebhookStore.hold", write.node)),
    });
  }),
);

/** Assigns webhooks to the nodes that send them. */
const holdWebhooksOn = (sql: SqlClient.SqlClient) => {
  const lease = leasesOn(sql, {
    table: "webhooks",
    key: "id",
    nodes: "webhook_nodes",
    isNeeded: sql`1 = 1`,
  });

  return Effect.fnUntraced(function* (hold: HoldItems) {
    if (!(yield* lease(hold))) return [];
    return yield* Effect.flatMap(
      sql`
        SELECT ${webhookColumns},
          (SELECT MIN(next_attempt_at) FROM webhook_deliveries
            WHERE webhook_id = webhooks.id AND next_attempt_at IS NOT NULL) AS next_attempt_at,
          (SELECT MIN(at) FROM webhook_deliveries
            WHERE webhook_id = webhooks.id AND status IN ('failing', 'waiting')) AS oldest_failing_at
        FROM ${webhookTables} JOIN accounts ON accounts.name = scopes.account
        WHERE webhooks.holder = ${hold.node} AND webhooks.status = 'active' AND accounts.status = 'active'
        ORDER BY webhooks.id`,
      readHeldWebhooks,
    );
  });
};

/**
 * A subquery for a SELECT of `webhooks`. It counts the undelivered events of each webhook: failing, waiting, after the
 * webhook's position in the feed, or without a position yet.
 */
const pendingCount = (sql: SqlClient.SqlClient): Statement.Fragment => {
  const types = sql.literal("webhooks.types");
  const isWanted = sql`(webhooks.types = '[]' OR events.type ${dialectOf(sql).isAmong(types)})`;
  return sql`(
    (SELECT COUNT(*) FROM webhook_deliveries
      WHERE webhook_id = webhooks.id AND webhook_deliveries.status IN ('failing', 'waiting'))
    + (SELECT COUNT(*) FROM events
      WHERE events.pid = webhooks.pid AND events.position > webhooks.position AND ${isWanted})
    + (SELECT COUNT(*) FROM events
      WHERE events.pid = webhooks.pid AND events.position IS NULL AND ${isWanted}))`;
};
