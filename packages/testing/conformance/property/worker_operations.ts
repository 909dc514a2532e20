/** The operations of `WebhookStore` and `RolePlanStore`, which assign each webhook and each role plan to one node. */
import { RolePlanStore } from "@accountlink/core/roles";
import { WebhookStore } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import { makeDelivery, makeWebhook, uniqueText, uniqueWebhookId } from "../../mod.ts";
import { settings, settled, uniqueGuildId } from "../roles/role_steps.ts";
import { ada, makeScopes, origin } from "../scopes.ts";
import { type OperationsOf, prefixed } from "./named_operations.ts";

export const webhookOperations = Effect.gen(function* () {
  const store = yield* WebhookStore;
  const { global, account } = yield* makeScopes;
  const [webhook, delivery] = [makeWebhook(global), makeDelivery()];
  const { id } = webhook;
  const [insertion, change] = [
    { ...origin, sealed: "sealed", position: 0, maxOfScope: 100 },
    { ...origin, id, at: 0 },
  ];
  yield* store.insert({ ...insertion, webhook });
  const record = { id, node: "none", at: 0, position: 0, deliveries: [delivery], freedLanes: [] };
  return prefixed("WebhookStore", {
    insert: Effect.suspend(() => store.insert({ ...insertion, webhook: makeWebhook(global) })),
    find: store.find(id),
    list: store.list({ account: account.name, id: null }),
    update: store.update({ ...change, change: { description: "changed" } }),
    remove: store.remove({ ...change, id: uniqueWebhookId() }),
    deliveries: store.deliveries(id, { status: null, before: null, limit: 10 }),
    findDelivery: store.findDelivery(id, delivery.eventId),
    recordRequested: store.recordRequested({
      id,
      delivery,
      attemptedAt: 0,
      endedAt: 0,
      type: null,
      status: 204,
      error: null,
    }),
    hold: store.hold({ node: uniqueText(), at: 0, until: 1, limit: 0 }),
    look: store.look(id, [delivery.eventId], ["lane"]),
    due: store.due(id, 0, 10),
    sendPending: store.sendPending(id, 0),
    record: store.record({ ...record, deliveredAt: null, failedAt: null }),
    sweep: store.sweep(0),
  } satisfies OperationsOf<WebhookStore["Service"]>);
});

export const roleOperations = Effect.gen(function* () {
  const store = yield* RolePlanStore;
  const { global } = yield* makeScopes;
  const place = { pid: global.pid, guildId: uniqueGuildId() };
  const write = { ...origin, ...place, at: 0 };
  const held = { ...place, node: "none", at: 0 };
  return prefixed("RolePlanStore", {
    find: store.find(place),
    findOn: store.findOn(uniqueGuildId()),
    list: store.list(global.pid),
    status: store.status(place),
    put: store.put({ ...write, settings, position: 0 }),
    pause: store.pause(write),
    remove: store.remove({ ...write, guildId: uniqueGuildId() }),
    startSweep: store.startSweep(place, 0),
    hold: store.hold({ node: uniqueText(), at: 0, until: 1, limit: 0 }),
    mark: store.mark({ ...held, position: 0, chatIds: [ada], sweepOf: null }),
    markMember: store.markMember(uniqueGuildId(), ada, 0),
    firstNode: store.firstNode("gateway:", 0),
    due: store.due(place, 0, 10),
    nicknames: store.nicknames(place, [ada]),
    settle: store.settle({ ...held, members: [settled(ada)], revision: 0, sweep: null }),
    settleOne: store.settleOne(place, settled(ada), 0),
  } satisfies OperationsOf<RolePlanStore["Service"]>);
});
