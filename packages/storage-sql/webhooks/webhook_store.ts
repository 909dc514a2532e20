/** `WebhookStore` in SQL. */
import { WebhookStore } from "@accountlink/core/webhooks";
import { Array as Arr, Effect, Layer, Option } from "effect";
import { SqlClient } from "effect/sql";
import { operation } from "../statements/operation.ts";
import { deliveryOperations } from "./delivery_operations.ts";
import { pendingCountOn } from "./pending_count.ts";
import { holdWebhooksOn } from "./webhook_holds.ts";
import { readWebhooks, webhookColumns, webhookTables } from "./webhook_row.ts";
import { webhookWrites } from "./webhook_writes.ts";

export const layer: Layer.Layer<WebhookStore, never, SqlClient.SqlClient> = Layer.effect(
  WebhookStore,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const [columns, tables] = [sql.literal(webhookColumns), sql.literal(webhookTables)];
    const countPending = pendingCountOn(sql);
    const hold = holdWebhooksOn(sql);
    return WebhookStore.of({
      ...webhookWrites(sql),
      ...deliveryOperations(sql),

      find: (id) =>
        sql`SELECT ${columns} FROM ${tables} WHERE webhooks.id = ${id}`.pipe(
          Effect.flatMap(readWebhooks),
          Effect.map((found) => Option.map(Arr.head(found), ({ webhook }) => webhook)),
          operation("WebhookStore.find"),
        ),

      list: (account) =>
        sql`
          SELECT ${columns} FROM ${tables}
          ${account === null ? sql.literal("") : sql`WHERE scopes.account = ${account}`}
          ORDER BY webhooks.created_at, webhooks.id`.pipe(
          Effect.flatMap(readWebhooks),
          Effect.flatMap((found) =>
            Effect.forEach(found, ({ webhook: { secrets: _, ...webhook }, position }) =>
              Effect.map(countPending(webhook, position), (pending) => ({ ...webhook, pending })),
            ),
          ),
          operation("WebhookStore.list", account ?? ""),
        ),

      hold: (write) => hold(write).pipe(operation("WebhookStore.hold", write.node)),
    });
  }),
);
