import type { AuditEntry, WriteOrigin } from "@accountlink/core/audit";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import {
  lanesOf,
  resent,
  type StoredDelivery,
  type StoredWebhook,
  updatedWebhook,
  type WebhookId,
  WebhookStore,
} from "@accountlink/core/webhooks";
import { Option, Order, Struct } from "effect";
import { earliest, layerOf, type MemoryWebhook } from "./state.ts";

type Deliveries = Map<string, StoredDelivery>;

export const layer = layerOf(WebhookStore, (memory) => {
  const { webhooks, webhookNodes } = memory;

  const deliveriesOf = (id: WebhookId): Deliveries => webhooks.get(id)?.deliveries ?? new Map();

  const recordChange = (
    { actor, requestId, at }: WriteOrigin & { readonly at: Millis },
    webhook: StoredWebhook,
    action: AuditEntry["action"],
    more?: AuditEntry["details"],
  ) => {
    const details = { webhookId: webhook.id, ...more };
    memory.record({ actor, requestId, at, pid: webhook.scope.pid, action, details });
  };

  /** Counts the events that are neither delivered nor given up. */
  const pendingCount = ({ scope, types, position, deliveries }: MemoryWebhook): number => {
    const isSent = ({ type }: { readonly type: string }) => types.length === 0 || types.includes(type);
    const events = memory.events.get(scope.pid)?.events ?? [];
    const unread = events.filter((event) => event.position > position && isSent(event));
    return pendingOf(deliveries).length + unread.length;
  };

  return {
    insert: ({ webhook, sealed, position, maxOfScope, ...origin }) => {
      const { id, scope } = webhook;
      memory.linksOf(scope.pid);
      if (webhooks.has(id)) {
        throw new Error(`Cannot store webhook "${id}": its id is taken, expected a new one`);
      }
      if ([...webhooks.values()].filter((other) => other.scope.pid === scope.pid).length >= maxOfScope)
        return false;
      assertStorable([id, webhook.url, webhook.description, sealed]);
      const stored = { ...webhook, secrets: [{ sealed, endsAt: null }] };
      recordChange({ ...origin, at: webhook.createdAt }, stored, "webhook.created");
      webhooks.set(id, { ...stored, position, holder: null, deliveries: new Map() });
      return true;
    },

    find: (id) => Option.map(Option.fromUndefinedOr(webhooks.get(id)), storedWebhook),

    list: (filter) =>
      [...webhooks.values()]
        .filter(({ scope }) => filter.account === null || scope.account === filter.account)
        .filter(({ id }) => filter.id === null || id === filter.id)
        .toSorted((one, other) => one.createdAt - other.createdAt || Order.String(one.id, other.id))
        .map((webhook) => {
          const { secrets: _, ...details } = storedWebhook(webhook);
          return { ...details, pending: pendingCount(webhook) };
        }),

    update: (write) => {
      const stored = webhooks.get(write.id);
      if (stored === undefined) return false;
      const updated = updatedWebhook(stored, write.change, write.at);
      if (updated === null) return true;
      const { webhook, action, details } = updated;
      assertStorable([webhook.url, webhook.description, ...webhook.secrets.map(({ sealed }) => sealed)]);
      recordChange(write, webhook, action, details);
      webhooks.set(write.id, webhook);
      if (stored.status === "active" || webhook.status !== "active") return true;
      for (const [eventId, delivery] of stored.deliveries) {
        if (delivery.nextAttemptAt === null) continue;
        stored.deliveries.set(eventId, { ...delivery, nextAttemptAt: write.at });
      }
      return true;
    },

    remove: (write) => {
      const stored = webhooks.get(write.id);
      if (stored === undefined) return false;
      recordChange(write, stored, "webhook.deleted");
      return webhooks.delete(write.id);
    },

    deliveries: (id, { status, before, limit }) =>
      [...deliveriesOf(id).values()]
        .filter((delivery) => (status === null ? delivery.status !== "waiting" : delivery.status === status))
        .filter(({ eventId }) => before === null || eventId < before)
        .toSorted((one, other) => Order.String(other.eventId, one.eventId))
        .slice(0, limit),

    findDelivery: (id, eventId) => Option.fromUndefinedOr(deliveriesOf(id).get(eventId)),

    recordRequested: (attempt) => {
      const { id, delivery, endedAt } = attempt;
      const stored = webhooks.get(id);
      if (stored === undefined) return Option.none();
      const before = stored.deliveries.get(delivery.eventId);
      const after = resent(attempt, before);
      stored.deliveries.set(delivery.eventId, after);
      if (after.status === "delivered") {
        webhooks.set(id, { ...stored, lastDeliveredAt: endedAt, failingSince: null });
        freeLanes(stored.deliveries, before?.lanes ?? [], endedAt);
      }
      return Option.some(after);
    },

    hold: ({ node, at, until, limit }) => {
      if (until <= at) webhookNodes.delete(node);
      else webhookNodes.set(node, until);
      const isFree = ({ holder }: MemoryWebhook) => holder === null || (webhookNodes.get(holder) ?? 0) <= at;
      const free = until <= at ? [] : [...webhooks.values()].filter(isFree).slice(0, limit);
      for (const webhook of free) webhooks.set(webhook.id, { ...webhook, holder: node });
      return [...webhooks.values()]
        .filter(({ holder, status, scope }) => {
          const isSuspended = memory.accounts.get(scope.account)?.status === "suspended";
          return holder === node && until > at && status === "active" && !isSuspended;
        })
        .map((webhook) => {
          const pending = pendingOf(webhook.deliveries);
          return {
            ...storedWebhook(webhook),
            position: webhook.position,
            nextAttemptAt: earliest(pending.flatMap(({ nextAttemptAt }) => nextAttemptAt ?? [])),
            oldestFailingAt: earliest(pending.map((delivery) => delivery.at)),
          };
        });
    },

    look: (id, eventIds, lanes) => {
      const blocked = lanesOf(pendingOf(deliveriesOf(id)));
      return {
        known: eventIds.filter((eventId) => deliveriesOf(id).has(eventId)),
        blocked: lanes.filter((lane) => blocked.includes(lane)),
      };
    },

    due: (id, at, limit) =>
      pendingOf(deliveriesOf(id))
        .filter(({ nextAttemptAt }) => nextAttemptAt !== null && nextAttemptAt <= at)
        .toSorted((one, other) => Number(one.nextAttemptAt) - Number(other.nextAttemptAt))
        .slice(0, limit),

    sendPending: (id, at) => {
      for (const [eventId, delivery] of deliveriesOf(id)) {
        if (delivery.nextAttemptAt === null || delivery.nextAttemptAt <= at) continue;
        const resends = delivery.resends + 1;
        deliveriesOf(id).set(eventId, { ...delivery, nextAttemptAt: at, resends });
      }
    },

    record: ({ id, node, at, position, deliveries, freedLanes, deliveredAt, failedAt }) => {
      const stored = webhooks.get(id);
      if (stored === undefined || stored.holder !== node) return false;
      for (const delivery of deliveries) stored.deliveries.set(delivery.eventId, delivery);
      freeLanes(stored.deliveries, freedLanes, at);
      const times =
        deliveredAt === null
          ? { failingSince: stored.failingSince ?? failedAt }
          : { lastDeliveredAt: deliveredAt, failingSince: failedAt };
      webhooks.set(id, { ...stored, ...times, position });
      return true;
    },

    sweep: (before) => {
      let swept = 0;
      for (const { deliveries } of webhooks.values()) {
        const old = [...deliveries.values()].filter(({ at }) => at < before);
        for (const { eventId } of old) deliveries.delete(eventId);
        freeLanes(deliveries, lanesOf(old), before);
        swept += old.length;
      }
      return swept;
    },
  };
});

const storedWebhook = (stored: MemoryWebhook): StoredWebhook =>
  Struct.omit(stored, ["position", "holder", "deliveries"]);

/** The unsent deliveries in feed order. */
const pendingOf = (deliveries: Deliveries): ReadonlyArray<StoredDelivery> =>
  [...deliveries.values()]
    .filter(({ status }) => status === "failing" || status === "waiting")
    .toSorted((one, other) => Number(one.position) - Number(other.position));

/** Makes the first delivery of each lane due, if it waits and is the first in all of its lanes. */
const freeLanes = (deliveries: Deliveries, lanes: ReadonlyArray<string>, at: Millis): void => {
  for (const lane of lanes) {
    const pending = pendingOf(deliveries);
    const firstOf = (name: string) => pending.find((delivery) => delivery.lanes.includes(name));
    const first = firstOf(lane);
    const isDue = first?.nextAttemptAt === null && first.lanes.every((other) => firstOf(other) === first);
    if (isDue) deliveries.set(first.eventId, { ...first, nextAttemptAt: at });
  }
};
