import { WebhookStore } from "@accountlink/core/webhooks";
import { Array as Arr, Effect, Layer } from "effect";
import { SqlClient } from "effect/sql";
import { storeOperation } from "../statements/store_operation.ts";
import { deliveryOperations } from "./delivery_operations.ts";
import { pendingCount } from "./pending_count.ts";
import { holdWebhooksOn } from "./webhook_holds.ts";
import { readWebhookDetails, readWebhooks, webhookColumns, webhookTables } from "./webhook_row.ts";
import { webhookWrites } from "./webhook_writes.ts";

export const layer: Layer.Layer<WebhookStore, never, SqlClient.SqlClient> = Layer.effect(
  WebhookStore,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const [columns, tables] = [sql.literal(webhookColumns), sql.literal(webhookTables)];
    const pending = pendingCount(sql);
    const hold = holdWebhooksOn(sql);
    return WebhookStore.of({
      ...webhookWrites(sql),
      ...deliveryOperations(sql),

      find: (id) =>
        sql`SELECT ${columns} FROM ${tables} WHERE webhooks.id = ${id}`.pipe(
          Effect.flatMap(readWebhooks),
          Effect.map(Arr.head),
          storeOperation("WebhookStore.find"),
        ),

      list: ({ account, id }) => {
        const isOfAccount = account === null ? sql`1 = 1` : sql`scopes.account = ${account}`;
        const isMeant = id === null ? isOfAccount : sql`${isOfAccount} AND webhooks.id = ${id}`;
        return sql`
          SELECT ${columns}, ${pending} AS pending FROM ${tables} WHERE ${isMeant}
          ORDER BY webhooks.created_at, webhooks.id`.pipe(
          Effect.flatMap(readWebhookDetails),
          storeOperation("WebhookStore.list", account ?? "", id ?? ""),
        );
      },

      hold: (write) => hold(write).pipe(storeOperation("WebhookStore.hold", write.node)),
    });
  }),
);
