import { AuditLog, type DataScope } from "@accountlink/core";
import {
  type DeliveryStatus,
  type HeldWebhook,
  type RecordDeliveries,
  type StoredDelivery,
  type Webhook,
  type WebhookChange,
  type WebhookId,
  WebhookStore,
} from "@accountlink/core/webhooks";
import { Effect, Option } from "effect";
import { makeWebhook, uniqueText } from "../../mod.ts";
import { makeScopes, origin } from "../scopes.ts";

/** A number of more than 32 bits, which a store with 32-bit integers would truncate. */
export const start = 1_767_225_600_123;

/** Finds a webhook among the webhooks that a node holds; null if the node does not hold it. */
const held = (id: WebhookId, all: ReadonlyArray<HeldWebhook>): HeldWebhook | null =>
  all.find((webhook) => webhook.id === id) ?? null;

/** The operations of `WebhookStore` on webhooks of one scope, with defaults. */
export const webhookSteps = Effect.fnUntraced(function* (scope: DataScope) {
  const store = yield* WebhookStore;
  const log = yield* AuditLog;

  const hold = (node: string, at = start, until = at + 7_000, limit = 1_000_000) =>
    store.hold({ node, at, until, limit });

  const record = (id: WebhookId, node: string, write: Partial<RecordDeliveries> = {}) =>
    store.record({
      id,
      node,
      at: start,
      position: 0,
      deliveries: [],
      freedLanes: [],
      deliveredAt: null,
      failedAt: null,
      ...write,
    });

  const insert = (webhook: Webhook, { position = 0, maxOfScope = 100, sealed = "sealed" } = {}) =>
    store.insert({ ...origin, webhook, sealed, position, maxOfScope });

  const add = (parts: Partial<Webhook> = {}, position = 0) => {
    const webhook = makeWebhook(scope, parts);
    return Effect.as(insert(webhook, { position }), webhook);
  };

  return {
    scope,
    store,
    insert,
    add,
    hold,
    held,
    record,

    addHeld: Effect.fnUntraced(function* (parts: Partial<Webhook> = {}, position = 0) {
      const { id } = yield* add(parts, position);
      const node = uniqueText();
      yield* hold(node);
      const recordOf = (write: Partial<RecordDeliveries>) => record(id, node, write);
      return { id, node, recordOf, reheld: Effect.map(hold(node), (all) => held(id, all)) };
    }),

    find: (id: WebhookId) => Effect.map(store.find(id), Option.getOrNull),
    list: store.list({ account: scope.account, id: null }),
    update: (id: WebhookId, change: WebhookChange, at = start) => store.update({ ...origin, id, change, at }),
    remove: (id: WebhookId) => store.remove({ ...origin, id, at: start }),
    disable: (id: WebhookId) =>
      store.update({ ...origin, id, change: { disabledReason: "gone" }, at: start }),
    deliveries: (
      id: WebhookId,
      status: DeliveryStatus | null = null,
      before: string | null = null,
      limit = 100,
    ) => store.deliveries(id, { status, before, limit }),
    findDelivery: (id: WebhookId, eventId: string) =>
      Effect.map(store.findDelivery(id, eventId), Option.getOrNull),
    /** Stores the result of a requested resend, and returns the updated delivery. */
    request: (id: WebhookId, delivery: StoredDelivery, status: number, endedAt = start + 1) => {
      const error = status < 300 ? null : "status";
      return Effect.map(
        store.recordRequested({ id, delivery, attemptedAt: start, endedAt, type: null, status, error }),
        Option.getOrNull,
      );
    },
    due: (id: WebhookId, at = start) =>
      Effect.map(store.due(id, at, 100), (found: ReadonlyArray<StoredDelivery>) =>
        found.map(({ eventId }) => eventId),
      ),
    /** The audit entries of a webhook, oldest first. */
    entries: (id: WebhookId) =>
      Effect.map(log.list(scope.account, null, 1_000), (all) =>
        all
          .filter(({ details }) => details["webhookId"] === id)
          .map(({ action, details: { webhookId: _, ...details } }) => [action, details] as const)
          .toReversed(),
      ),
  };
});

export const newWebhookSteps = Effect.flatMap(makeScopes, ({ global }) => webhookSteps(global));
