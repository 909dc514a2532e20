/** Inserts, updates and removes webhooks. Each change commits together with its audit entry. */
import type { AuditAction, AuditEntry, WriteOrigin } from "@accountlink/core/audit";
import type { Millis } from "@accountlink/core/timestamp";
import {
  type InsertWebhook,
  type StoredWebhook,
  type UpdateWebhook,
  updatedWebhook,
  type WebhookId,
  type WebhookStore,
  type WebhookWrite,
  webhookEntryDetails,
} from "@accountlink/core/webhooks";
import { Effect, Predicate } from "effect";
import type { SqlClient } from "effect/sql";
import { insertEntry } from "../audit/audit_entry.ts";
import { dialectOf } from "../statements/dialect.ts";
import { deleteInBatches } from "../statements/in_batches.ts";
import { storeOperation } from "../statements/store_operation.ts";
import { readWebhooks, webhookColumns, webhookTables } from "./webhook_row.ts";

type Writes = Pick<WebhookStore["Service"], "insert" | "update" | "remove">;

export const webhookWrites = (sql: SqlClient.SqlClient): Writes => {
  const [insert, update, remove] = [insertOn(sql), updateOn(sql), removeOn(sql)];
  return {
    insert: (write) => {
      const { id, url, description } = write.webhook;
      return insert(write).pipe(storeOperation("WebhookStore.insert", id, url, description, write.sealed));
    },
    update: (write) => {
      const texts = Object.values(write.change).filter(Predicate.isString);
      return update(write).pipe(storeOperation("WebhookStore.update", ...texts));
    },
    remove: (write) => remove(write).pipe(storeOperation("WebhookStore.remove")),
  };
};

const insertOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate } = dialectOf(sql);
  return Effect.fnUntraced(function* ({ webhook, sealed, position, maxOfScope, ...origin }: InsertWebhook) {
    const { id, scope, createdAt } = webhook;
    // Lock the scope, so that concurrent inserts cannot exceed `maxOfScope`.
    yield* sql`SELECT pid FROM scopes WHERE pid = ${scope.pid} ${forUpdate}`;
    const others = yield* sql`SELECT id FROM webhooks WHERE pid = ${scope.pid}`;
    if (others.length >= maxOfScope) return false;
    yield* sql`INSERT INTO webhooks ${sql.insert({
      ...changeableColumns({ ...webhook, secrets: [{ sealed, endsAt: null }] }),
      id,
      pid: scope.pid,
      created_at: createdAt,
      last_delivered_at: webhook.lastDeliveredAt,
      position,
    })}`;
    yield* insertChange(sql, { ...origin, at: createdAt }, webhook, "webhook.created");
    return true;
  }, sql.withTransaction);
};

const changeableColumns = (webhook: StoredWebhook) => ({
  url: webhook.url,
  types: JSON.stringify(webhook.types),
  description: webhook.description,
  status: webhook.status,
  disabled_reason: webhook.disabledReason,
  failing_since: webhook.failingSince,
  secrets: JSON.stringify(webhook.secrets),
});

const updateOn = (sql: SqlClient.SqlClient) => {
  const find = findForUpdateOn(sql);
  return Effect.fnUntraced(function* (write: UpdateWebhook) {
    const { id, at } = write;
    const stored = yield* find(id);
    if (stored === undefined) return false;
    const updated = updatedWebhook(stored, write.change, at);
    if (updated === null) return true;
    const { webhook, action, details } = updated;
    yield* sql`UPDATE webhooks SET ${sql.update(changeableColumns(webhook))} WHERE id = ${id}`;
    if (stored.status !== "active" && webhook.status === "active") {
      yield* sql`
        UPDATE webhook_deliveries SET next_attempt_at = ${at}
        WHERE webhook_id = ${id} AND next_attempt_at IS NOT NULL`;
    }
    yield* insertChange(sql, write, webhook, action, details);
    return true;
  }, sql.withTransaction);
};

const removeOn = (sql: SqlClient.SqlClient) => {
  const find = findForUpdateOn(sql);
  const removeRest = Effect.fnUntraced(function* (write: WebhookWrite) {
    const stored = yield* find(write.id);
    if (stored === undefined) return false;
    yield* sql`DELETE FROM webhook_deliveries WHERE webhook_id = ${write.id}`;
    yield* sql`DELETE FROM webhooks WHERE id = ${write.id}`;
    yield* insertChange(sql, write, stored, "webhook.deleted");
    return true;
  }, sql.withTransaction);

  return Effect.fnUntraced(function* (write: WebhookWrite) {
    yield* deleteInBatches(sql, {
      table: "webhook_deliveries",
      primaryKey: ["webhook_id", "event_id"],
      order: "event_id",
      condition: sql`webhook_id = ${write.id}`,
    });
    return yield* removeRest(write);
  });
};

const findForUpdateOn = (sql: SqlClient.SqlClient) => {
  const { forUpdate } = dialectOf(sql);
  return Effect.fnUntraced(function* (id: WebhookId) {
    yield* sql`SELECT id FROM webhooks WHERE id = ${id} ${forUpdate}`;
    const [found] = yield* Effect.flatMap(
      sql`SELECT ${webhookColumns} FROM ${webhookTables} WHERE webhooks.id = ${id}`,
      readWebhooks,
    );
    return found;
  });
};

const insertChange = (
  sql: SqlClient.SqlClient,
  { actor, requestId, at }: WriteOrigin & { readonly at: Millis },
  webhook: Pick<StoredWebhook, "id" | "scope">,
  action: AuditAction,
  more: AuditEntry["details"] = {},
) => {
  const { pid, account } = webhook.scope;
  const details = webhookEntryDetails(webhook, more);
  return insertEntry(sql, { actor, requestId, at, account, pid, action, details });
};
