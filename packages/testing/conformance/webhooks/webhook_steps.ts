import type { DataScope } from "@accountlink/core";
import {
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

  const hold = (node: string, limit = 1_000_000) =>
    store.hold({ node, at: start, until: start + 7_000, limit });

  const insert = (webhook: Webhook, maxOfScope = 100) =>
    store.insert({ ...origin, webhook, sealed: "sealed", position: 0, maxOfScope });

  const add = (parts: Partial<Webhook> = {}) => {
    const webhook = makeWebhook(scope, parts);
    return Effect.as(insert(webhook), webhook);
  };

  return {
    scope,
    store,
    insert,
    add,
    hold,
    held,

    addHeld: Effect.fnUntraced(function* (parts: Partial<Webhook> = {}) {
      const { id } = yield* add(parts);
      const node = uniqueText();
      yield* hold(node);
      const nothing = { position: 0, deliveries: [], freedLanes: [], deliveredAt: null, failedAt: null };
      const recordOf = (write: Partial<RecordDeliveries>) =>
        store.record({ id, node, at: start, ...nothing, ...write });
      return { id, recordOf };
    }),

    find: (id: WebhookId) => Effect.map(store.find(id), Option.getOrNull),
    list: store.list({ account: scope.account, id: null }),
    deliveries: (id: WebhookId) => store.deliveries(id, { status: null, before: null, limit: 100 }),
    findDelivery: (id: WebhookId, eventId: string) =>
      Effect.map(store.findDelivery(id, eventId), Option.getOrNull),
    due: (id: WebhookId, at = start) =>
      Effect.map(store.due(id, at, 100), (found) => found.map(({ eventId }) => eventId)),
    update: (id: WebhookId, change: WebhookChange, at = start) => store.update({ ...origin, id, change, at }),
    request: (id: WebhookId, delivery: StoredDelivery, status: 204 | 500) => {
      const result = { attemptedAt: start, endedAt: start + 1, status };
      const error = status === 500 ? "status" : null;
      return store.recordRequested({ id, delivery, ...result, type: null, error });
    },
  };
});

export const newWebhookSteps = Effect.flatMap(makeScopes, ({ global }) => webhookSteps(global));
