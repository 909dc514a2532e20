/** Webhooks and their deliveries in any storage. */
import { Array as Arr, Effect, Option, Predicate } from "effect";
import type { AuditAction, AuditEntry } from "../audit/audit.ts";
import { keysOfAll, recordStore, removeFound, type Tx } from "../records/records.ts";
import { assertStorable } from "../storable_text.ts";
import type { Millis } from "../timestamp.ts";
import { newUlid } from "../ulid.ts";
import {
  type DeliveryRecord,
  deliveryRecord,
  deliveryStatuses,
  lanesIn,
  mostPending,
  mostSearchedPending,
  storedDelivery,
  updatedWebhook,
  type WebhookId,
  type WebhookRecord,
  webhookDeliveries,
  webhookRecords,
} from "./webhook.ts";
import { lanesOf, resent, WebhookStore, type WebhookWrite } from "./webhook_store.ts";

/** Adds the scopes of webhooks. Leaves out what only their nodes need. */
const withScopes = Effect.fnUntraced(function* (tx: Tx, found: ReadonlyArray<WebhookRecord>) {
  const scopes = yield* tx.scopes(found.map(({ pid }) => pid));
  return found.map(({ pid, position, holder: _, ...webhook }) => {
    const known = scopes.get(pid);
    if (known === undefined) throw new Error(`Cannot read webhook "${webhook.id}": its scope does not exist`);
    return { position, isActive: known.isActive, webhook: { ...webhook, scope: known.scope } };
  });
});

/** Counts the pending events of each webhook. Most webhooks have none, which few statements find for all together. */
const pendingCounts = Effect.fnUntraced(function* (tx: Tx, records: ReadonlyArray<WebhookRecord>) {
  const most = mostPending + 1;
  const ids = records.map(({ id }) => [id]);
  const waiting = yield* tx.firsts(webhookDeliveries.pending, ids);
  const searches = records.map(({ pid, position, types }) => ({ pid, after: position, types }));
  const told = yield* tx.countEvents(searches, { most, searched: mostSearchedPending });
  return yield* Effect.forEach(ids, (id, index) => {
    const stored =
      waiting[index] === undefined ? Effect.succeed(0) : tx.count(webhookDeliveries.pending, id, { most });
    return Effect.map(stored, (count) => Math.min(most, count + (told[index] ?? 0)));
  });
});

const journal = (
  tx: Tx,
  { actor, requestId, at }: Pick<WebhookWrite, "actor" | "requestId" | "at">,
  { id, pid }: WebhookRecord,
  action: AuditAction,
  more?: AuditEntry["details"],
) => tx.journal({ actor, requestId, at, pid }, action, { webhookId: id, ...more });

const firstsOf = (tx: Tx, id: WebhookId, lanes: ReadonlyArray<string>) => {
  const places = lanes.map((lane) => [lane, id]);
  return tx.firsts(webhookDeliveries.lanes, places);
};

/** Makes the first delivery of each lane due, if it waits and is the first in all of its lanes. */
const freeLanes = Effect.fnUntraced(function* (
  tx: Tx,
  id: WebhookId,
  lanes: ReadonlyArray<string>,
  at: Millis,
) {
  const due = new Map<string, DeliveryRecord>();
  for (const first of yield* firstsOf(tx, id, lanes)) {
    if (first === undefined || first.nextAttemptAt !== null) continue;
    const firsts = yield* firstsOf(tx, id, lanesIn(first));
    if (firsts.every((other) => other?.eventId === first.eventId)) due.set(first.eventId, first);
  }
  const freed = [...due.values()].map((first) => ({ ...first, nextAttemptAt: at }));
  yield* tx.putAll(webhookDeliveries, freed);
});

/** How many webhooks a step of a sweep looks at. */
const webhooksOfStep = 50;

/** Leaves out failures of deliveries that a requested attempt has delivered meanwhile. */
const withoutDelivered = Effect.fnUntraced(function* (tx: Tx, recorded: ReadonlyArray<DeliveryRecord>) {
  const failed = recorded.filter(({ status }) => status !== "delivered");
  const stored = yield* tx.getAll(webhookDeliveries, keysOfAll(webhookDeliveries, failed));
  const delivered = new Set(stored.flatMap((each) => (each.status === "delivered" ? [each.eventId] : [])));
  return recorded.filter(({ status, eventId }) => status === "delivered" || !delivered.has(eventId));
});

/** Makes the next attempts of deliveries due at a time, if they are scheduled for another. */
const makeDue = (at: Millis, resends: number) =>
  Effect.fnUntraced(function* (tx: Tx, found: ReadonlyArray<DeliveryRecord>) {
    const stored = yield* tx.getAll(webhookDeliveries, keysOfAll(webhookDeliveries, found));
    const moved = stored
      .filter(({ nextAttemptAt }) => nextAttemptAt !== null && nextAttemptAt !== at)
      .map((each) => ({ ...each, nextAttemptAt: at, resends: each.resends + resends }));
    yield* tx.putAll(webhookDeliveries, moved);
    return moved.length;
  });

const isRemoved = (tx: Tx, id: WebhookId) => Effect.map(tx.get(webhookRecords, id), Predicate.isUndefined);

/** Returns the oldest delivery of each of the next webhooks that have any, in the order of their IDs. */
const nextOldest = Effect.fnUntraced(function* (tx: Tx, after: string) {
  const found: Array<DeliveryRecord> = [];
  for (let last = after; found.length < webhooksOfStep; last = found.at(-1)?.webhookId ?? last) {
    const [first] = yield* tx.list(webhookDeliveries.byKey, [], { after: [last, "~"], limit: 1 });
    if (first === undefined) break;
    found.push(first);
  }
  const stored = yield* tx.getAll(
    webhookRecords,
    found.map(({ webhookId }) => [webhookId]),
  );
  const known = new Set(stored.map(({ id }) => id));
  return found.map((first) => ({ ...first, isKnown: known.has(first.webhookId) }));
});

/** Event IDs begin with the time of the event, so events older than a time have IDs less than this one. */
const firstEventOf = (at: Millis): string => `evt_${newUlid(at).slice(0, 10)}`;

/** @internal */
export const storedWebhooks = recordStore(WebhookStore, (records) => {
  const { read, write, inSteps, hold, mostWritten } = records;

  return {
    insert: ({ webhook, sealed, position, maxOfScope, ...origin }) =>
      write("insert", webhook.scope.pid, function* (tx) {
        const { scope, ...made } = webhook;
        assertStorable([sealed]);
        if ((yield* tx.list(webhookRecords.byScope, [scope.pid])).length >= maxOfScope) return false;
        const secrets = [{ sealed, endsAt: null }];
        const record = { ...made, pid: scope.pid, secrets, position, holder: null };
        yield* tx.create(webhookRecords, record);
        yield* journal(tx, { ...origin, at: made.createdAt }, record, "webhook.created");
        return true;
      }),

    find: (id) =>
      read("find", function* (tx) {
        const record = yield* tx.get(webhookRecords, id);
        const [found] = yield* withScopes(tx, record === undefined ? [] : [record]);
        return Option.map(Option.fromUndefinedOr(found), ({ webhook }) => webhook);
      }),

    list: ({ account, id }) =>
      read("list", function* (tx) {
        const all = yield* account === null
          ? tx.list(webhookRecords.byTime, [])
          : tx.ofAccount(webhookRecords, account);
        const meant = all.filter((record) => id === null || record.id === id);
        const pending = yield* pendingCounts(tx, meant);
        return (yield* withScopes(tx, meant))
          .map(({ webhook: { secrets, ...webhook } }, index) => ({
            ...webhook,
            pending: pending[index] ?? 0,
            previousSecretEndsAt: secrets.at(-2)?.endsAt ?? null,
          }))
          .toSorted((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
      }),

    update: Effect.fnUntraced(function* (change) {
      const { id, at } = change;
      const updated = yield* write("update", id, function* (tx) {
        const stored = yield* tx.get(webhookRecords, id);
        if (stored === undefined) return null;
        const changed = updatedWebhook(stored, change.change, at);
        if (changed === null) return { isActivated: false };
        const { webhook, action, details } = changed;
        assertStorable(webhook.secrets.map(({ sealed }) => sealed));
        yield* tx.put(webhookRecords, webhook);
        yield* journal(tx, change, webhook, action, details);
        return { isActivated: stored.status !== "active" && webhook.status === "active" };
      });
      for (const bounds of updated?.isActivated ? [{ after: [at] }, { before: [at] }] : []) {
        yield* inSteps(
          "update",
          id,
          (tx, limit) => tx.list(webhookDeliveries.due, [id], { ...bounds, limit }),
          makeDue(at, 0),
        );
      }
      return updated !== null;
    }),

    remove: Effect.fnUntraced(function* (removal) {
      const { id } = removal;
      const isFound = yield* write("remove", id, function* (tx) {
        const removed = yield* tx.remove(webhookRecords, id);
        if (removed !== undefined) yield* journal(tx, removal, removed, "webhook.deleted");
        return removed !== undefined;
      });
      // The webhook goes first, since it sends events while it is stored. If this process is killed here, `sweep` deletes the
      // deliveries.
      yield* inSteps(
        "remove",
        id,
        (tx, limit) => tx.list(webhookDeliveries.byKey, [id], { limit }),
        removeFound(webhookDeliveries),
      );
      return isFound;
    }),

    deliveries: (id, { status, before, limit }) =>
      read("deliveries", function* (tx) {
        const options = { limit, reverse: true, ...(before !== null && { before: [before] }) };
        const prefixes = (status === null ? deliveryStatuses : [status]).map((having) => [id, having]);
        return (yield* tx.listAll(webhookDeliveries.byStatus, prefixes, options))
          .toSorted((one, other) => (one.eventId > other.eventId ? -1 : 1))
          .slice(0, limit)
          .map(storedDelivery);
      }),

    findDelivery: (id, eventId) =>
      read("findDelivery", function* (tx) {
        const found = yield* tx.get(webhookDeliveries, id, eventId);
        return Option.map(Option.fromUndefinedOr(found), storedDelivery);
      }),

    recordRequested: (attempt) =>
      write("recordRequested", attempt.id, function* (tx) {
        const { id, delivery, endedAt } = attempt;
        const webhook = yield* tx.get(webhookRecords, id);
        if (webhook === undefined) return Option.none();
        const before = yield* tx.get(webhookDeliveries, id, delivery.eventId);
        const after = resent(attempt, before && storedDelivery(before));
        yield* tx.put(webhookDeliveries, deliveryRecord(id, after));
        if (after.status === "delivered") {
          yield* tx.put(webhookRecords, { ...webhook, lastDeliveredAt: endedAt, failingSince: null });
          yield* freeLanes(tx, id, before === undefined ? [] : lanesIn(before), endedAt);
        }
        return Option.some(after);
      }),

    hold: (items) =>
      hold("hold", webhookRecords, items, function* (tx, held) {
        const active = held.filter(({ status }) => status === "active");
        const ids = active.map(({ id }) => [id]);
        const next = yield* tx.firsts(webhookDeliveries.due, ids);
        const oldest = yield* tx.firsts(webhookDeliveries.pending, ids);
        return (yield* withScopes(tx, active)).flatMap(({ webhook, position, isActive }, index) => {
          const nextAttemptAt = next[index]?.nextAttemptAt ?? null;
          const oldestFailingAt = oldest[index]?.at ?? null;
          return isActive ? [{ ...webhook, position, nextAttemptAt, oldestFailingAt }] : [];
        });
      }),

    look: (id, eventIds, lanes) =>
      read("look", function* (tx) {
        const keys = eventIds.map((eventId) => [id, eventId]);
        const known = new Set((yield* tx.getAll(webhookDeliveries, keys)).map(({ eventId }) => eventId));
        const firsts = yield* firstsOf(tx, id, lanes);
        return {
          known: eventIds.filter((eventId) => known.has(eventId)),
          blocked: lanes.filter((_, index) => firsts[index] !== undefined),
        };
      }),

    due: (id, at, limit) =>
      read("due", (tx) =>
        Effect.map(
          tx.list(webhookDeliveries.due, [id], { before: [at + 1], limit }),
          Arr.map(storedDelivery),
        ),
      ),

    sendPending: (id, at) =>
      Effect.asVoid(
        inSteps(
          "sendPending",
          id,
          (tx, limit) => tx.list(webhookDeliveries.due, [id], { after: [at], limit }),
          makeDue(at, 1),
        ),
      ),

    record: Effect.fnUntraced(function* (attempted) {
      const { id, node, at, position, deliveries, freedLanes, deliveredAt, failedAt } = attempted;
      // Lanes are freed after all deliveries are recorded, and the position moves with the last ones.
      const all = [...deliveries, ...freedLanes];
      const parts: ReadonlyArray<typeof all> = all.length === 0 ? [all] : Arr.chunksOf(all, mostWritten);
      for (const [index, part] of parts.entries()) {
        const recorded = part.flatMap((each) => (typeof each === "string" ? [] : deliveryRecord(id, each)));
        const freed = part.filter((each) => typeof each === "string");
        const isHeld = yield* write("record", id, function* (tx) {
          const webhook = yield* tx.get(webhookRecords, id);
          if (webhook === undefined || webhook.holder !== node) return false;
          const stored = yield* withoutDelivered(tx, recorded);
          yield* tx.putAll(webhookDeliveries, stored);
          // A requested attempt may have delivered what these wait for.
          const waiting = stored.filter(({ status }) => status === "waiting").flatMap(lanesIn);
          yield* freeLanes(tx, id, [...new Set([...freed, ...waiting])], at);
          if (index < parts.length - 1) return true;
          const times =
            deliveredAt === null
              ? { failingSince: webhook.failingSince ?? failedAt }
              : { lastDeliveredAt: deliveredAt, failingSince: failedAt };
          yield* tx.put(webhookRecords, { ...webhook, ...times, position });
          return true;
        });
        if (!isHeld) return false;
      }
      return true;
    }),

    sweep: Effect.fnUntraced(function* (before) {
      const end = firstEventOf(before);
      const ids: Array<WebhookId> = [];
      for (let last: string | undefined = ""; last !== undefined; ) {
        const after: string = last;
        const found = yield* read("sweep", (tx) => nextOldest(tx, after));
        for (const { webhookId, eventId, isKnown } of found)
          if (eventId < end || !isKnown) ids.push(webhookId);
        last = found.length < webhooksOfStep ? undefined : found.at(-1)?.webhookId;
      }
      let swept = 0;
      for (const id of ids) {
        swept += yield* inSteps(
          "sweep",
          id,
          Effect.fnUntraced(function* (tx: Tx, limit: number) {
            const bounds = (yield* isRemoved(tx, id)) ? {} : { before: [end] };
            return yield* tx.list(webhookDeliveries.byKey, [id], { ...bounds, limit });
          }),
          Effect.fnUntraced(function* (tx: Tx, found: ReadonlyArray<DeliveryRecord>) {
            const removed = yield* tx.removeAll(webhookDeliveries, keysOfAll(webhookDeliveries, found));
            yield* freeLanes(tx, id, lanesOf(removed.map(storedDelivery)), before);
            return removed.length;
          }),
        );
      }
      return swept;
    }),
  };
});
