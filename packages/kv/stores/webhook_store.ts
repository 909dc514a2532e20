import type { AuditEntry, WriteOrigin } from "@accountlink/core/audit";
import { logged } from "@accountlink/core/journal";
import { assertStorable } from "@accountlink/core/storable_text";
import {
  lanesOf,
  mostPending,
  mostSearchedPending,
  resent,
  updatedWebhook,
  type WebhookDetails,
  type WebhookId,
  WebhookStore,
} from "@accountlink/core/webhooks";
import { Array as Arr, Effect, Option, Struct } from "effect";
import { inSteps, removeInSteps, stepSize } from "../steps.ts";
import type { Transaction } from "../transaction.ts";
import { readEvents } from "./event_store.ts";
import { placeAt, record } from "./journal.ts";
import { holdItems } from "./leases.ts";
import { accountNamed, refOf, scopeAt } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";
import { deliveries, freeLanes, type KeptWebhook, storedWebhook, webhooks } from "./webhooks.ts";

const recordChange = (
  tx: Transaction,
  { actor, requestId, at }: WriteOrigin & { readonly at: number },
  { webhook, scope }: KeptWebhook,
  action: AuditEntry["action"],
  more?: AuditEntry["details"],
) => {
  const details = { webhookId: webhook.id, ...more };
  return record(tx, scope.pid, logged({ actor, requestId, at }, action, details));
};

const countedAtOnce = 1_000;

/** Counts the events that are neither delivered nor given up, up to one more than `mostPending`. */
const pendingCount = Effect.fnUntraced(function* (
  tx: Transaction,
  { webhook, scope, position }: KeptWebhook,
) {
  let count = yield* tx.count(deliveries.pending, [webhook.id]);
  const { start } = yield* placeAt(tx, scope.pid);
  let after = Math.max(position, start);
  for (let searched = 0; count <= mostPending && searched < mostSearchedPending; searched += countedAtOnce) {
    const page = yield* readEvents(tx, scope.pid, after, countedAtOnce);
    count += page.filter(({ type }) => webhook.types.length === 0 || webhook.types.includes(type)).length;
    const last = page.at(-1);
    if (last === undefined || page.length < countedAtOnce) break;
    after = last.position;
  }
  return Math.min(count, mostPending + 1);
});

/** Deliveries of one transaction. */
const partSize = 40;

export const layer = storeLayer(WebhookStore, (db) => ({
  insert: ({ webhook: made, sealed, position, maxOfScope, ...origin }) =>
    db.write(made.scope.pid, function* (tx) {
      const { scope: _, ...webhook } = made;
      const scope = yield* scopeAt(tx, made.scope.pid);
      if ((yield* tx.get(webhooks, webhook.id)) !== undefined) {
        throw new Error(`Cannot store webhook "${webhook.id}": its id is taken, expected a new one`);
      }
      if ((yield* tx.list(webhooks.byScope, [scope.pid])).length >= maxOfScope) return false;
      assertStorable([webhook.id, webhook.url, webhook.description, sealed]);
      const secrets = [{ sealed, endsAt: null }];
      const kept = { webhook: { ...webhook, secrets }, scope: refOf(scope), position, holder: null };
      yield* recordChange(tx, { ...origin, at: webhook.createdAt }, kept, "webhook.created");
      yield* tx.put(webhooks, kept);
      return true;
    }),

  find: (id) =>
    db.read(function* (tx) {
      const kept = yield* tx.get(webhooks, id);
      return kept === undefined ? Option.none() : Option.some(yield* storedWebhook(tx, kept));
    }),

  list: ({ account, id }) =>
    db.read(function* (tx) {
      const owner = account === null ? undefined : yield* accountNamed(tx, account);
      if (account !== null && owner === undefined) return [];
      const all = yield* owner === undefined
        ? tx.list(webhooks.byTime, [])
        : tx.list(webhooks.byAccount, [owner.id]);
      const found: Array<WebhookDetails> = [];
      for (const kept of all) {
        if (id !== null && kept.webhook.id !== id) continue;
        const { secrets: _, ...details } = yield* storedWebhook(tx, kept);
        found.push({ ...details, pending: yield* pendingCount(tx, kept) });
      }
      return found;
    }),

  update: (write) =>
    Effect.gen(function* () {
      const isKnown = yield* db.write(write.id, function* (tx) {
        const kept = yield* tx.get(webhooks, write.id);
        if (kept === undefined) return null;
        const before = yield* storedWebhook(tx, kept);
        const updated = updatedWebhook(before, write.change, write.at);
        if (updated === null) return { isActivated: false };
        const { webhook, action, details } = updated;
        assertStorable([webhook.url, webhook.description, ...webhook.secrets.map(({ sealed }) => sealed)]);
        yield* recordChange(tx, write, kept, action, details);
        yield* tx.put(webhooks, { ...kept, webhook: Struct.omit(webhook, ["scope"]) });
        return { isActivated: before.status !== "active" && webhook.status === "active" };
      });
      if (isKnown?.isActivated) {
        for (const bounds of [{ after: [write.at] }, { before: [write.at] }]) {
          yield* inSteps(
            db,
            (tx) => tx.list(deliveries.due, [write.id], { ...bounds, limit: stepSize }),
            (tx, { delivery }) => makeDue(tx, write.id, delivery.eventId, write.at, 0),
          );
        }
      }
      return isKnown !== null;
    }),

  remove: (write) =>
    Effect.gen(function* () {
      const isRemoved = yield* db.write(write.id, function* (tx) {
        const kept = yield* tx.get(webhooks, write.id);
        if (kept === undefined) return false;
        yield* recordChange(tx, write, kept, "webhook.deleted");
        yield* tx.remove(webhooks, write.id);
        return true;
      });
      if (isRemoved) yield* removeInSteps(db, deliveries, [write.id]);
      return isRemoved;
    }),

  deliveries: (id, { status, before, limit }) =>
    db.read(function* (tx) {
      const options = { ...(before !== null && { before: [before] }), limit, reverse: true };
      const found = yield* tx.list(deliveries.tried, [id, status ?? "any"], options);
      return found.map(({ delivery }) => delivery);
    }),

  findDelivery: (id, eventId) =>
    db.read(function* (tx) {
      return Option.fromUndefinedOr((yield* tx.get(deliveries, id, eventId))?.delivery);
    }),

  recordRequested: (attempt) =>
    db.write(attempt.id, function* (tx) {
      const { id, delivery, endedAt } = attempt;
      const kept = yield* tx.get(webhooks, id);
      if (kept === undefined) return Option.none();
      const before = (yield* tx.get(deliveries, id, delivery.eventId))?.delivery;
      const after = resent(attempt, before);
      yield* tx.put(deliveries, { webhook: id, delivery: after });
      if (after.status === "delivered") {
        const webhook = { ...kept.webhook, lastDeliveredAt: endedAt, failingSince: null };
        yield* tx.put(webhooks, { ...kept, webhook });
        yield* freeLanes(tx, id, before?.lanes ?? [], endedAt);
      }
      return Option.some(after);
    }),

  hold: (hold) =>
    holdItems(db, "webhooks", webhooks, hold, function* (tx, kept) {
      const { webhook, position } = kept;
      if (webhook.status !== "active") return null;
      const [next] = yield* tx.list(deliveries.due, [webhook.id], { limit: 1 });
      const [oldest] = yield* tx.list(deliveries.pending, [webhook.id], { limit: 1 });
      return {
        ...(yield* storedWebhook(tx, kept)),
        position,
        nextAttemptAt: next?.delivery.nextAttemptAt ?? null,
        oldestFailingAt: oldest?.delivery.at ?? null,
      };
    }),

  look: (id, eventIds, lanes) =>
    db.read(function* (tx) {
      const found = yield* tx.getAll(deliveries, eventIds, (eventId) => [id, eventId]);
      const counts = yield* Effect.forEach(lanes, (lane) => tx.count(deliveries.lanes, [id, lane]), {
        concurrency: "unbounded",
      });
      return {
        known: eventIds.filter((_, index) => found[index] !== undefined),
        blocked: lanes.filter((_, index) => (counts[index] ?? 0) > 0),
      };
    }),

  due: (id, at, limit) =>
    db.read(function* (tx) {
      const found = yield* tx.list(deliveries.due, [id], { before: [at + 1], limit });
      return found.map(({ delivery }) => delivery);
    }),

  sendPending: (id, at) =>
    Effect.asVoid(
      inSteps(
        db,
        (tx) => tx.list(deliveries.due, [id], { after: [at], limit: stepSize }),
        (tx, { delivery }) => makeDue(tx, id, delivery.eventId, at, 1),
      ),
    ),

  record: ({ id, node, at, position, deliveries: recorded, freedLanes, deliveredAt, failedAt }) =>
    Effect.gen(function* () {
      const parts = Arr.chunksOf(recorded, partSize);
      for (const [index, part] of (parts.length === 0 ? [[]] : parts).entries()) {
        const isHeld = yield* db.write(id, function* (tx) {
          const kept = yield* tx.get(webhooks, id);
          if (kept === undefined || kept.holder !== node) return false;
          yield* tx.getAll(deliveries, part, ({ eventId }) => [id, eventId]);
          for (const delivery of part) yield* tx.put(deliveries, { webhook: id, delivery });
          if (index < parts.length - 1) return true;
          yield* freeLanes(tx, id, freedLanes, at);
          const { webhook } = kept;
          const times =
            deliveredAt === null
              ? { failingSince: webhook.failingSince ?? failedAt }
              : { lastDeliveredAt: deliveredAt, failingSince: failedAt };
          yield* tx.put(webhooks, { ...kept, webhook: { ...webhook, ...times }, position });
          return true;
        });
        if (!isHeld) return false;
      }
      return true;
    }),

  sweep: (before) =>
    inSteps(
      db,
      (tx) => tx.list(deliveries.byTime, [], { before: [before], limit: stepSize }),
      Effect.fnUntraced(function* (tx, { webhook, delivery: { eventId } }) {
        const removed = yield* tx.remove(deliveries, webhook, eventId);
        if (removed === undefined) return false;
        yield* freeLanes(tx, webhook, lanesOf([removed.delivery]), before);
        return true;
      }),
    ),
}));

/** Makes the next attempt of a delivery due at a time, if it is scheduled for another. */
const makeDue = Effect.fnUntraced(function* (
  tx: Transaction,
  webhook: WebhookId,
  eventId: string,
  at: number,
  resends: number,
) {
  const delivery = (yield* tx.get(deliveries, webhook, eventId))?.delivery;
  if (delivery === undefined || delivery.nextAttemptAt === null || delivery.nextAttemptAt === at)
    return false;
  const next = { ...delivery, nextAttemptAt: at, resends: delivery.resends + resends };
  yield* tx.put(deliveries, { webhook, delivery: next });
  return true;
});
