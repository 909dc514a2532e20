import { WebhookStore } from "@accountlink/core/webhooks";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect } from "effect";
import { webhookStoreSuite } from "../mod.ts";
import { detectMistakes } from "../test_mistakes.ts";
import { origin } from "../world.ts";

/** Mistakes of an adapter, by the case that must detect them. */
detectMistakes(webhookStoreSuite, StorageMemory.layer, WebhookStore, {
  "insert stores the webhook unchanged, with its secret": (store) => ({
    insert: (write) => store.insert({ ...write, sealed: "" }),
  }),
  "list returns the webhooks of an account, or of all, oldest first, or one of them": (store) => ({
    list: (filter) => Effect.map(store.list(filter), (found) => found.toReversed()),
  }),
  "concurrent inserts keep to the maximum of the scope, and another scope has its own": (store) => ({
    insert: (write) => store.insert({ ...write, maxOfScope: Infinity }),
  }),
  "update changes what is given, and nothing twice": (store) => ({
    update: ({ change, ...write }) => store.update({ ...write, change: { ...change, types: [] } }),
  }),
  "a disabled webhook keeps its reason until it is active again, which tries its failures at once": (
    store,
  ) => ({
    update: (write) =>
      store.update(
        "disabledReason" in write.change ? { ...write, change: { disabledReason: "failing" } } : write,
      ),
  }),
  "rotate adds a secret, limits the earlier ones, and drops those that have ended": (store) => ({
    update: ({ change, ...write }) =>
      store.update({ ...write, change: { ...change, previousUntil: Number.MAX_SAFE_INTEGER } }),
  }),
  "a webhook passes on exactly when the time of its node is over": (store) => ({
    hold: (hold) => store.hold({ ...hold, at: hold.at - 1 }),
  }),
  "a node that ends lets its webhooks go at once": (store) => ({
    hold: (hold) => store.hold({ ...hold, until: Math.max(hold.until, hold.at + 7_000) }),
  }),
  "hold takes no more than its limit at once": (store) => ({
    hold: (hold) => store.hold({ ...hold, limit: hold.limit + 1 }),
  }),
  "record changes nothing for a node that does not hold the webhook": (store) => ({
    record: (write) =>
      Effect.tap(store.record(write), (isHeld) =>
        Effect.forEach(isHeld ? [] : write.deliveries, (delivery) =>
          store.recordRequested({ id: write.id, delivery, endedAt: write.at, status: 204, error: null }),
        ),
      ),
  }),
  "record keeps the times of deliveries and failures": (store) => ({
    record: (write) => store.record({ ...write, failedAt: null }),
  }),
  "deliveries are listed newest first, without those that wait, by status and in pages": (store) => ({
    deliveries: (id, filter) => store.deliveries(id, { ...filter, before: null }),
  }),
  "due gives what is to be tried by then, the first due first": (store) => ({
    due: (id, at, limit) => store.due(id, at + 1, limit),
  }),
  "look knows the events that have a delivery, and the lanes that one blocks": (store) => ({
    look: (id, eventIds, lanes) =>
      Effect.map(store.look(id, eventIds, lanes), (found) => ({ ...found, blocked: found.blocked.slice(1) })),
  }),
  "a freed lane makes its first waiting delivery due, and no other": (store) => ({
    record: (write) => store.record({ ...write, freedLanes: [] }),
  }),
  "recordRequested stores an attempt of any node, and a success frees its lanes": (store) => ({
    recordRequested: (attempt) => store.recordRequested({ ...attempt, status: 500, error: "status" }),
  }),
  "recordRequested takes back nothing that the schedule did during the attempt": (store) => ({
    recordRequested: (attempt) =>
      Effect.flatMap(store.remove({ ...origin, id: attempt.id, at: 0 }), () =>
        store.recordRequested(attempt),
      ),
  }),
  "sweep deletes the deliveries of old events, any number of them, and nothing else": (store) => ({
    sweep: (before) => store.sweep(before + 1),
  }),
  "sweep lets go on what waited for those that it deletes": (store) => ({
    sweep: () => store.sweep(0),
  }),
});
