import type { AuditAction, AuditEntry, WriteOrigin } from "@accountlink/core/audit";
import type { Millis } from "@accountlink/core/timestamp";
import { newUlid } from "@accountlink/core/ulid";
import {
  type DeliveryFilter,
  type InsertWebhook,
  lanesOf,
  type RecordDeliveries,
  type RequestedAttempt,
  resent,
  timesAfter,
  type UpdateWebhook,
  updatedWebhook,
  type WebhookFilter,
  type WebhookId,
  WebhookStore,
  type WebhookWrite,
  webhookEntryDetails,
} from "@accountlink/core/webhooks";
import { Effect, Layer, Option } from "effect";
import { recordChange } from "../audit/record_change.ts";
import { requireScope } from "../keys/accounts.ts";
import { Database } from "../records/database.ts";
import { deliveries, events, type KvWebhook, newestFirst, webhooks } from "../records/schema.ts";
import { inSteps, stepSize } from "../records/steps.ts";
import type { Transaction } from "../records/transaction.ts";
import { holdWebhooks } from "./webhook_holds.ts";

export const layer: Layer.Layer<WebhookStore, never, Database> = Layer.effect(
  WebhookStore,
  Effect.map(Database, (db) =>
    WebhookStore.of({
      insert: (write) => db.write("WebhookStore.insert", (tx) => insert(tx, write)),
      find: (id) =>
        db.find("WebhookStore.find", (tx) =>
          Effect.map(webhooks.find(tx, id), (found) =>
            Option.map(Option.fromUndefinedOr(found), ({ webhook }) => webhook),
          ),
        ),
      list: (filter) => db.read("WebhookStore.list", (tx) => list(tx, filter)),
      update: (write) => db.write("WebhookStore.update", (tx) => update(tx, write)),
      remove: (write) =>
        Effect.andThen(
          inSteps(db, "WebhookStore.remove", (tx) => removeSome(tx, write.id)),
          db.write("WebhookStore.remove", (tx) => remove(tx, write)),
        ),
      deliveries: (id, filter) => db.read("WebhookStore.deliveries", (tx) => listDeliveries(tx, id, filter)),
      findDelivery: (id, eventId) =>
        db.find("WebhookStore.findDelivery", (tx) =>
          Effect.map(deliveries.find(tx, id, eventId), (found) =>
            Option.map(Option.fromUndefinedOr(found), ({ delivery }) => delivery),
          ),
        ),
      recordRequested: (attempt) =>
        db.write("WebhookStore.recordRequested", (tx) =>
          Effect.map(recordRequested(tx, attempt), Option.fromUndefinedOr),
        ),
      hold: (hold) => holdWebhooks(db, hold),
      look: (id, eventIds, lanes) => db.read("WebhookStore.look", (tx) => look(tx, id, eventIds, lanes)),
      due: (id, at, limit) =>
        db.read("WebhookStore.due", (tx) =>
          Effect.map(deliveries.list(tx, "due", [id], { limit }), (found) =>
            found
              .map(({ delivery }) => delivery)
              .filter(({ nextAttemptAt }) => nextAttemptAt !== null && nextAttemptAt <= at),
          ),
        ),
      record: (write) => db.write("WebhookStore.record", (tx) => record(tx, write)),
      sweep: (before) => sweep(db, before),
    }),
  ),
);

const recordWebhookChange = (
  tx: Transaction,
  { actor, requestId, at }: WriteOrigin & { readonly at: Millis },
  { webhook }: KvWebhook,
  action: AuditAction,
  more?: AuditEntry["details"],
) =>
  recordChange(tx, {
    actor,
    requestId,
    at,
    action,
    of: webhook.scope,
    details: webhookEntryDetails(webhook, more),
  });

const insert = Effect.fnUntraced(function* (
  tx: Transaction,
  { webhook, sealed, position, maxOfScope, ...origin }: InsertWebhook,
) {
  const { pid } = webhook.scope;
  yield* requireScope(tx, pid);
  if ((yield* webhooks.find(tx, webhook.id)) !== undefined) {
    throw new Error(`Cannot store webhook "${webhook.id}": its id is taken, expected a new one`);
  }
  if ((yield* webhooks.list(tx, "scope", [pid])).length >= maxOfScope) return false;
  const stored = { webhook: { ...webhook, secrets: [{ sealed, endsAt: null }] }, position, holder: null };
  yield* recordWebhookChange(tx, { ...origin, at: webhook.createdAt }, stored, "webhook.created");
  yield* webhooks.put(tx, stored);
  return true;
});

const list = Effect.fnUntraced(function* (tx: Transaction, { account, id }: WebhookFilter) {
  const all = yield* id === null ? webhooks.scan(tx, []) : webhooks.findAll(tx, [[id]]);
  const listed = all
    .filter(({ webhook }) => account === null || webhook.scope.account === account)
    .toSorted(
      ({ webhook: one }, { webhook: other }) =>
        one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1),
    );
  return yield* Effect.forEach(listed, (stored) => {
    const { secrets: _, ...webhook } = stored.webhook;
    return Effect.map(countPending(tx, stored), (pending) => ({ ...webhook, pending }));
  });
});

const countPending = Effect.fnUntraced(function* (
  tx: Transaction,
  { webhook: { id, types, scope }, position }: KvWebhook,
) {
  const unsent = yield* deliveries.list(tx, "pending", [id]);
  const unread = yield* events.scan(tx, [scope.pid], { after: [scope.pid, position] });
  const wanted = unread.filter(({ event }) => types.length === 0 || types.includes(event.type));
  return unsent.length + wanted.length;
});

const update = Effect.fnUntraced(function* (tx: Transaction, write: UpdateWebhook) {
  const stored = yield* webhooks.find(tx, write.id);
  if (stored === undefined) return false;
  const updated = updatedWebhook(stored.webhook, write.change, write.at);
  if (updated === null) return true;
  const { webhook, action, details } = updated;
  yield* recordWebhookChange(tx, write, stored, action, details);
  yield* webhooks.put(tx, { ...stored, webhook });
  if (stored.webhook.status !== "active" && webhook.status === "active") {
    for (const { webhookId, delivery } of yield* deliveries.list(tx, "due", [write.id])) {
      yield* deliveries.put(tx, { webhookId, delivery: { ...delivery, nextAttemptAt: write.at } });
    }
  }
  return true;
});

const removeSome = Effect.fnUntraced(function* (tx: Transaction, id: WebhookId) {
  const some = yield* deliveries.scan(tx, [id], { limit: stepSize });
  for (const delivery of some) yield* deliveries.discard(tx, delivery);
  return some;
});

const remove = Effect.fnUntraced(function* (tx: Transaction, write: WebhookWrite) {
  const stored = yield* webhooks.find(tx, write.id);
  if (stored === undefined) return false;
  yield* removeWebhook(tx, stored);
  yield* recordWebhookChange(tx, write, stored, "webhook.deleted");
  return true;
});

/** Deletes a webhook with its deliveries. */
export const removeWebhook = Effect.fnUntraced(function* (tx: Transaction, stored: KvWebhook) {
  for (const delivery of yield* deliveries.scan(tx, [stored.webhook.id])) {
    yield* deliveries.discard(tx, delivery);
  }
  yield* webhooks.discard(tx, stored);
});

const listDeliveries = (tx: Transaction, id: WebhookId, { status, before, limit }: DeliveryFilter) => {
  const parts = [id, status ?? "any"];
  const after = before === null ? {} : { after: [...parts, newestFirst(before)] };
  return Effect.map(deliveries.list(tx, "newest", parts, { ...after, limit }), (found) =>
    found.map(({ delivery }) => delivery),
  );
};

const recordRequested = Effect.fnUntraced(function* (tx: Transaction, attempt: RequestedAttempt) {
  const { id, delivery, endedAt } = attempt;
  const stored = yield* webhooks.find(tx, id);
  if (stored === undefined) return undefined;
  const before = (yield* deliveries.find(tx, id, delivery.eventId))?.delivery;
  const after = resent(attempt, before);
  yield* deliveries.put(tx, { webhookId: id, delivery: after });
  if (after.status !== "delivered") return after;
  yield* webhooks.put(tx, {
    ...stored,
    webhook: { ...stored.webhook, lastDeliveredAt: endedAt, failingSince: null },
  });
  yield* freeLanes(tx, id, before?.lanes ?? [], endedAt);
  return after;
});

const look = Effect.fnUntraced(function* (
  tx: Transaction,
  id: WebhookId,
  eventIds: ReadonlyArray<string>,
  lanes: ReadonlyArray<string>,
) {
  const found = yield* deliveries.findAll(
    tx,
    eventIds.map((eventId) => [id, eventId]),
  );
  const firsts = yield* Effect.forEach(lanes, (lane) => firstOf(tx, id, lane));
  return {
    known: found.map(({ delivery }) => delivery.eventId),
    blocked: lanes.filter((_, index) => firsts[index] !== undefined),
  };
});

/** The first delivery of a lane, in the order of the feed. */
const firstOf = (tx: Transaction, id: WebhookId, lane: string) =>
  Effect.map(deliveries.list(tx, "lane", [id, lane], { limit: 1 }), ([first]) => first?.delivery);

const freeLanes = Effect.fnUntraced(function* (
  tx: Transaction,
  webhookId: WebhookId,
  lanes: ReadonlyArray<string>,
  at: Millis,
) {
  for (const lane of lanes) {
    const first = yield* firstOf(tx, webhookId, lane);
    if (first === undefined || first.nextAttemptAt !== null) continue;
    const firsts = yield* Effect.forEach(first.lanes, (other) => firstOf(tx, webhookId, other));
    if (firsts.some((other) => other?.eventId !== first.eventId)) continue;
    yield* deliveries.put(tx, { webhookId, delivery: { ...first, nextAttemptAt: at } });
  }
});

const record = Effect.fnUntraced(function* (tx: Transaction, write: RecordDeliveries) {
  const { id, node, at, position } = write;
  const stored = yield* webhooks.find(tx, id);
  if (stored === undefined || stored.holder !== node) return false;
  for (const delivery of write.deliveries) yield* deliveries.put(tx, { webhookId: id, delivery });
  yield* freeLanes(tx, id, write.freedLanes, at);
  const webhook = { ...stored.webhook, ...timesAfter(stored.webhook, write) };
  yield* webhooks.put(tx, { ...stored, webhook, position });
  return true;
});

const sweep = Effect.fnUntraced(function* (db: Database["Service"], before: Millis) {
  const name = "WebhookStore.sweep";
  // The ids of events begin with their time.
  const first = `evt_${newUlid(before).slice(0, 10)}`;
  const ids = yield* db.read(name, (tx) => webhooks.scan(tx, []));
  const swept = yield* Effect.forEach(ids, ({ webhook: { id } }) =>
    inSteps(db, name, (tx) =>
      Effect.gen(function* () {
        const oldest = yield* deliveries.scan(tx, [id], { limit: stepSize });
        const old = oldest.filter(({ delivery }) => delivery.eventId < first);
        for (const delivery of old) yield* deliveries.discard(tx, delivery);
        yield* freeLanes(tx, id, lanesOf(old.map(({ delivery }) => delivery)), before);
        return old;
      }),
    ),
  );
  return swept.flat().length;
});
