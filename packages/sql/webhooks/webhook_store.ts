import { GuildId, Pid } from "@accountlink/core";
import type { AuditAction, AuditEntry, WriteOrigin } from "@accountlink/core/audit";
import { textAs } from "@accountlink/core/records";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import {
  type DisabledReason,
  type HeldWebhook,
  mostPending,
  mostSearchedPending,
  type StoredWebhook,
  updatedWebhook,
  type WebhookDetails,
  type WebhookId,
  type WebhookStatus,
  WebhookStore,
  type WebhookWrite,
} from "@accountlink/core/webhooks";
import { Array as Arr, Effect, Predicate, Schema } from "effect";
import { type Statement } from "effect/sql";
import { isNumbered, isUnnumbered } from "../journal/positions.ts";
import { insertEntry, positionOn } from "../journal/records.ts";
import { withScope } from "../keys/accounts.ts";
import { deleteInBatches } from "../statements/in_batches.ts";
import { leasesOn } from "../statements/leases.ts";
import { literalSql, literalsOf, OptionalInt, tableOf } from "../statements/row.ts";
import { storeLayer } from "../statements/store_operation.ts";
import { deliveryOperations } from "./deliveries.ts";

export const layer = storeLayer(WebhookStore)((parts) => {
  const { sql, operation, transaction, forUpdate, forUpdateOf, isAmong } = parts;
  const lease = leasesOn(sql, {
    table: "webhooks",
    key: "id",
    nodes: "webhook_nodes",
    isNeeded: sql`1 = 1`,
  });

  const find = (id: WebhookId, lock: Statement.Fragment = sql``) =>
    readWebhooks(sql`SELECT ${webhookColumns} FROM ${webhookTables} WHERE webhooks.id = ${id} ${lock}`);

  const findForUpdate = (id: WebhookId) => find(id, forUpdateOf("webhooks"));

  const insertChange = (
    { actor, requestId, at }: WriteOrigin & { readonly at: Millis },
    webhook: Pick<StoredWebhook, "id" | "scope">,
    action: AuditAction,
    more: AuditEntry["details"] = {},
  ) => {
    const { pid } = webhook.scope;
    const details = { webhookId: webhook.id, ...more };
    return insertEntry(sql, { actor, requestId, at, pid, action, details });
  };

  const place = positionOn(sql);

  /**
   * Counts undelivered events, up to some more than `mostPending`: failing, waiting, after the webhook's position in the
   * feed, or without a position.
   */
  const isTold = sql`event_id IS NOT NULL AND (webhooks.types = '[]'
    OR REPLACE(action, 'links.import_undone', 'links.imported') ${isAmong(sql.literal("webhooks.types"))})`;
  const toldAmong = (records: Statement.Fragment) => sql`
    (SELECT COUNT(*) FROM (
      SELECT 1 FROM (
        SELECT event_id, action FROM journal WHERE journal.place = webhooks.pid AND ${records} LIMIT ${mostSearchedPending}
      ) AS next WHERE ${isTold} LIMIT ${mostPending + 1}) AS told)`;
  const start = sql`COALESCE((SELECT feed_starts.position FROM feed_starts WHERE pid = webhooks.pid), 0)`;
  const pending = sql`(
    (SELECT COUNT(*) FROM (
      SELECT 1 FROM webhook_deliveries
      WHERE webhook_id = webhooks.id AND webhook_deliveries.status IN ('failing', 'waiting')
      LIMIT ${mostPending + 1}) AS counted)
    + ${toldAmong(sql`${isNumbered(sql)} AND ${place} > webhooks.position AND ${place} > ${start} ORDER BY ${place}`)}
    + ${toldAmong(isUnnumbered(sql))})`;

  const removeRest = Effect.fnUntraced(function* (write: WebhookWrite) {
    const [stored] = yield* findForUpdate(write.id);
    if (stored === undefined) return false;
    yield* sql`DELETE FROM webhook_deliveries WHERE webhook_id = ${write.id}`;
    yield* sql`DELETE FROM webhooks WHERE id = ${write.id}`;
    yield* insertChange(write, stored, "webhook.deleted");
    return true;
  }, sql.withTransaction);

  return {
    ...deliveryOperations(parts),

    find: operation("find", (id) => Effect.map(find(id), Arr.head)),

    list: operation("list", ({ account, id }) => {
      assertStorable([account ?? "", id ?? ""]);
      const isOfAccount = account === null ? sql`1 = 1` : sql`scopes.account = ${account}`;
      const isMeant = id === null ? isOfAccount : sql`${isOfAccount} AND webhooks.id = ${id}`;
      return readWebhookDetails(sql`
        SELECT ${webhookColumns}, ${pending} AS pending FROM ${webhookTables} WHERE ${isMeant}
        ORDER BY webhooks.created_at, webhooks.id`);
    }),

    insert: transaction("insert", function* ({ webhook, sealed, position, maxOfScope, ...origin }) {
      const { id, scope, url, description, createdAt, lastDeliveredAt } = webhook;
      assertStorable([id, url, description, sealed]);
      // Lock the scope, so that concurrent inserts cannot exceed `maxOfScope`.
      yield* sql`SELECT pid FROM scopes WHERE pid = ${scope.pid} ${forUpdate}`;
      const others = yield* sql`SELECT id FROM webhooks WHERE pid = ${scope.pid}`;
      if (others.length >= maxOfScope) return false;
      yield* sql`INSERT INTO webhooks ${sql.insert({
        ...changeableColumns({ ...webhook, secrets: [{ sealed, endsAt: null }] }),
        id,
        pid: scope.pid,
        created_at: createdAt,
        last_delivered_at: lastDeliveredAt,
        position,
      })}`;
      yield* insertChange({ ...origin, at: createdAt }, webhook, "webhook.created");
      return true;
    }),

    update: transaction("update", function* (write) {
      const { id, at, change } = write;
      assertStorable(Object.values(change).filter(Predicate.isString));
      const [stored] = yield* findForUpdate(id);
      if (stored === undefined) return false;
      const updated = updatedWebhook(stored, change, at);
      if (updated === null) return true;
      const { webhook, action, details } = updated;
      yield* sql`UPDATE webhooks SET ${sql.update(changeableColumns(webhook))} WHERE id = ${id}`;
      if (stored.status !== "active" && webhook.status === "active") {
        yield* sql`
          UPDATE webhook_deliveries SET next_attempt_at = ${at}
          WHERE webhook_id = ${id} AND next_attempt_at IS NOT NULL`;
      }
      yield* insertChange(write, webhook, action, details);
      return true;
    }),

    hold: operation("hold", function* (write) {
      assertStorable([write.node]);
      if (!(yield* lease(write))) return [];
      return yield* readHeldWebhooks(sql`
        SELECT ${webhookColumns},
          (SELECT MIN(next_attempt_at) FROM webhook_deliveries
            WHERE webhook_id = webhooks.id AND next_attempt_at IS NOT NULL) AS next_attempt_at,
          (SELECT MIN(at) FROM webhook_deliveries
            WHERE webhook_id = webhooks.id AND status IN ('failing', 'waiting')) AS oldest_failing_at
        FROM ${webhookTables} JOIN accounts ON accounts.name = scopes.account
        WHERE webhooks.holder = ${write.node} AND webhooks.status = 'active' AND accounts.status = 'active'
        ORDER BY webhooks.id`);
    }),

    remove: operation("remove", function* (write) {
      yield* deleteInBatches(sql, {
        table: "webhook_deliveries",
        primaryKey: ["webhook_id", "event_id"],
        order: "event_id",
        condition: sql`webhook_id = ${write.id}`,
      });
      return yield* removeRest(write);
    }),
  };
});

const changeableColumns = (webhook: StoredWebhook) => ({
  url: webhook.url,
  types: JSON.stringify(webhook.types),
  description: webhook.description,
  status: webhook.status,
  disabled_reason: webhook.disabledReason,
  failing_since: webhook.failingSince,
  secrets: JSON.stringify(webhook.secrets),
});

const webhookFields = {
  id: textAs<WebhookId>(),
  pid: Pid,
  account: Schema.String,
  guildId: Schema.NullOr(GuildId),
  url: Schema.String,
  types: Schema.fromJsonString(Schema.Array(Schema.String)),
  description: Schema.String,
  status: literalsOf<WebhookStatus>({ active: true, paused: true, disabled: true }),
  disabledReason: Schema.NullOr(literalsOf<DisabledReason>({ gone: true, failing: true })),
  createdAt: Schema.Int,
  lastDeliveredAt: OptionalInt,
  failingSince: OptionalInt,
  secrets: Schema.fromJsonString(Schema.Array(Schema.Struct({ sealed: Schema.String, endsAt: OptionalInt }))),
};

const webhookColumns = literalSql(`
  webhooks.id, webhooks.pid, scopes.account, scopes.guild_id, webhooks.url, webhooks.types, webhooks.description,
  webhooks.status, webhooks.disabled_reason, webhooks.created_at, webhooks.last_delivered_at, webhooks.failing_since,
  webhooks.secrets, webhooks.position`);

const webhookTables = literalSql("webhooks JOIN scopes ON scopes.pid = webhooks.pid");

const readWebhooks = tableOf("webhooks", webhookFields).reader((row): StoredWebhook => withScope(row));

const readWebhookDetails = tableOf("webhooks", { ...webhookFields, pending: Schema.Int }).reader(
  ({ secrets: _, pending, ...row }): WebhookDetails =>
    withScope({ ...row, pending: Math.min(pending, mostPending + 1) }),
);

const readHeldWebhooks = tableOf("webhooks", {
  ...webhookFields,
  position: Schema.Int,
  nextAttemptAt: OptionalInt,
  oldestFailingAt: OptionalInt,
}).reader((row): HeldWebhook => withScope(row));
