import type { AuditAction, AuditEntry, WriteOrigin } from "@accountlink/core/audit";
import { assertStorable } from "@accountlink/core/storable_text";
import type { Millis } from "@accountlink/core/timestamp";
import {
  type DeliveryFilter,
  type HeldWebhook,
  type HoldItems,
  type InsertWebhook,
  lanesOf,
  type RecordDeliveries,
  type RequestedAttempt,
  resent,
  type StoredDelivery,
  type StoredWebhook,
  type UpdateWebhook,
  updatedWebhook,
  type WebhookDetails,
  type WebhookFilter,
  type WebhookId,
  WebhookStore,
  webhookEntryDetails,
} from "@accountlink/core/webhooks";
import { Option, Struct } from "effect";
import { earliest, layerOf, type Memory, type MemoryWebhook } from "./state/state.ts";

export const layer = layerOf(WebhookStore, (memory) => ({
  insert: (write) => insert(memory, write),
  find: (id) => Option.map(Option.fromUndefinedOr(memory.webhooks.get(id)), storedWebhook),
  list: (filter) => list(memory, filter),
  update: (write) => update(memory, write),
  remove: (write) => {
    const stored = memory.webhooks.get(write.id);
    if (stored === undefined) return false;
    recordChange(memory, write, stored, "webhook.deleted");
    return memory.webhooks.delete(write.id);
  },
  deliveries: (id, filter) => deliveries(memory, id, filter),
  findDelivery: (id, eventId) => Option.fromUndefinedOr(memory.webhooks.get(id)?.deliveries.get(eventId)),
  recordRequested: (attempt) => Option.fromUndefinedOr(recordRequested(memory, attempt)),
  hold: (hold) => holdWebhooks(memory, hold),
  look: (id, eventIds, lanes) => {
    const all = memory.webhooks.get(id)?.deliveries ?? new Map<string, StoredDelivery>();
    const pending = pendingOf(all);
    return {
      known: eventIds.filter((eventId) => all.has(eventId)),
      blocked: lanes.filter((lane) => pending.some((delivery) => delivery.lanes.includes(lane))),
    };
  },
  due: (id, at, limit) =>
    pendingOf(memory.webhooks.get(id)?.deliveries ?? new Map())
      .filter(({ nextAttemptAt }) => nextAttemptAt !== null && nextAttemptAt <= at)
      .toSorted((one, other) => Number(one.nextAttemptAt) - Number(other.nextAttemptAt))
      .slice(0, limit),
  sendPending: (id, at) => {
    const all = memory.webhooks.get(id)?.deliveries ?? new Map<string, StoredDelivery>();
    for (const delivery of all.values()) {
      if (delivery.nextAttemptAt === null || delivery.nextAttemptAt <= at) continue;
      all.set(delivery.eventId, { ...delivery, nextAttemptAt: at, resends: delivery.resends + 1 });
    }
  },
  record: (write) => record(memory, write),
  sweep: (before) => {
    let swept = 0;
    for (const webhook of memory.webhooks.values()) {
      const old = [...webhook.deliveries.values()].filter(({ at }) => at < before);
      for (const { eventId } of old) webhook.deliveries.delete(eventId);
      freeLanes(webhook, lanesOf(old), before);
      swept += old.length;
    }
    return swept;
  },
}));

const storedWebhook = (stored: MemoryWebhook): StoredWebhook =>
  Struct.omit(stored, ["position", "holder", "deliveries"]);

/** The unsent deliveries in feed order. */
const pendingOf = (all: ReadonlyMap<string, StoredDelivery>): ReadonlyArray<StoredDelivery> =>
  [...all.values()]
    .filter(({ status }) => status === "failing" || status === "waiting")
    .toSorted((one, other) => Number(one.position) - Number(other.position));

const recordChange = (
  memory: Memory,
  { actor, requestId, at }: WriteOrigin & { readonly at: Millis },
  webhook: StoredWebhook,
  action: AuditAction,
  details?: AuditEntry["details"],
): void =>
  memory.record({
    actor,
    requestId,
    at,
    action,
    scope: webhook.scope,
    details: webhookEntryDetails(webhook, details),
  });

const insert = (memory: Memory, { webhook, sealed, position, maxOfScope, ...origin }: InsertWebhook) => {
  memory.linksOf(webhook.scope.pid);
  if (memory.webhooks.has(webhook.id)) {
    throw new Error(`Cannot store webhook "${webhook.id}": its id is taken, expected a new one`);
  }
  const others = [...memory.webhooks.values()].filter(({ scope }) => scope.pid === webhook.scope.pid);
  if (others.length >= maxOfScope) return false;
  assertStorable([webhook.id, webhook.url, webhook.description, sealed]);
  const stored = { ...webhook, secrets: [{ sealed, endsAt: null }] };
  recordChange(memory, { ...origin, at: webhook.createdAt }, stored, "webhook.created");
  memory.webhooks.set(webhook.id, { ...stored, position, holder: null, deliveries: new Map() });
  return true;
};

const list = (memory: Memory, filter: WebhookFilter): ReadonlyArray<WebhookDetails> =>
  [...memory.webhooks.values()]
    .filter(({ scope }) => filter.account === null || scope.account === filter.account)
    .filter(({ id }) => filter.id === null || id === filter.id)
    .toSorted((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1))
    .map((webhook) => {
      const { secrets: _, ...details } = storedWebhook(webhook);
      return { ...details, pending: pendingCount(memory, webhook) };
    });

const pendingCount = (memory: Memory, { scope, types, position, deliveries: all }: MemoryWebhook): number => {
  const isSent = ({ type }: { readonly type: string }) => types.length === 0 || types.includes(type);
  const unread = memory.events.get(scope.pid)?.after(position, Infinity) ?? [];
  return pendingOf(all).length + unread.filter(isSent).length;
};

const update = (memory: Memory, write: UpdateWebhook): boolean => {
  const stored = memory.webhooks.get(write.id);
  if (stored === undefined) return false;
  const updated = updatedWebhook(stored, write.change, write.at);
  if (updated === null) return true;
  const { webhook, action, details } = updated;
  assertStorable([webhook.url, webhook.description, ...webhook.secrets.map(({ sealed }) => sealed)]);
  recordChange(memory, write, webhook, action, details);
  memory.webhooks.set(write.id, webhook);
  if (stored.status !== "active" && webhook.status === "active") {
    for (const delivery of stored.deliveries.values()) {
      if (delivery.nextAttemptAt === null) continue;
      stored.deliveries.set(delivery.eventId, { ...delivery, nextAttemptAt: write.at });
    }
  }
  return true;
};

const deliveries = (memory: Memory, id: WebhookId, { status, before, limit }: DeliveryFilter) =>
  [...(memory.webhooks.get(id)?.deliveries.values() ?? [])]
    .filter((delivery) => (status === null ? delivery.status !== "waiting" : delivery.status === status))
    .filter(({ eventId }) => before === null || eventId < before)
    .toSorted((one, other) => (one.eventId < other.eventId ? 1 : -1))
    .slice(0, limit);

const recordRequested = (memory: Memory, attempt: RequestedAttempt): StoredDelivery | undefined => {
  const { id, delivery, endedAt } = attempt;
  const stored = memory.webhooks.get(id);
  if (stored === undefined) return undefined;
  const before = stored.deliveries.get(delivery.eventId);
  const after = resent(attempt, before);
  stored.deliveries.set(delivery.eventId, after);
  if (after.status !== "delivered") return after;
  memory.webhooks.set(id, { ...stored, lastDeliveredAt: endedAt, failingSince: null });
  freeLanes(stored, before?.lanes ?? [], endedAt);
  return after;
};

const freeLanes = ({ deliveries: all }: MemoryWebhook, lanes: ReadonlyArray<string>, at: Millis): void => {
  for (const lane of lanes) {
    const pending = pendingOf(all);
    const firstOf = (name: string) => pending.find(({ lanes: own }) => own.includes(name));
    const first = firstOf(lane);
    const isDue = first?.nextAttemptAt === null && first.lanes.every((other) => firstOf(other) === first);
    if (isDue) all.set(first.eventId, { ...first, nextAttemptAt: at });
  }
};

const holdWebhooks = (memory: Memory, { node, at, until, limit }: HoldItems) => {
  const { webhooks, webhookNodes } = memory;
  if (until <= at) webhookNodes.delete(node);
  else webhookNodes.set(node, until);
  const isFree = ({ holder }: MemoryWebhook) => holder === null || (webhookNodes.get(holder) ?? 0) <= at;
  const free = until <= at ? [] : [...webhooks.values()].filter(isFree).slice(0, limit);
  for (const webhook of free) {
    webhooks.set(webhook.id, { ...webhook, holder: node });
  }
  return [...webhooks.values()]
    .filter(({ holder, status, scope }) => {
      const isSuspended = memory.accounts.get(scope.account)?.status === "suspended";
      return holder === node && until > at && status === "active" && !isSuspended;
    })
    .map((webhook): HeldWebhook => {
      const pending = pendingOf(webhook.deliveries);
      const next = pending.flatMap(({ nextAttemptAt }) => (nextAttemptAt === null ? [] : [nextAttemptAt]));
      return {
        ...storedWebhook(webhook),
        position: webhook.position,
        nextAttemptAt: earliest(next),
        oldestFailingAt: earliest(pending.map((delivery) => delivery.at)),
      };
    });
};

const record = (memory: Memory, write: RecordDeliveries): boolean => {
  const stored = memory.webhooks.get(write.id);
  if (stored === undefined || stored.holder !== write.node) return false;
  for (const delivery of write.deliveries) stored.deliveries.set(delivery.eventId, delivery);
  freeLanes(stored, write.freedLanes, write.at);
  const { position, deliveredAt, failedAt } = write;
  const times =
    deliveredAt === null
      ? { failingSince: stored.failingSince ?? failedAt }
      : { lastDeliveredAt: deliveredAt, failingSince: failedAt };
  memory.webhooks.set(write.id, { ...stored, ...times, position });
  return true;
};
