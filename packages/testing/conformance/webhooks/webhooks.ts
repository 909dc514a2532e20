import { EventStore, type StoragePorts } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { leaseShare } from "@accountlink/core/records";
import { type HeldWebhook, mostPending, type StoredDelivery } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import { makeDelivery, makeWebhook, uniqueChatId, uniqueEventId, uniquePid, uniqueText } from "../../mod.ts";
import { expectDefect, expectEqual, expectThat } from "../expect.ts";
import { linkSteps } from "../links/link_steps.ts";
import { ada, atOnce, bob, chess, eraseUser, makeScopes, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newWebhookSteps, start, webhookSteps } from "./webhook_steps.ts";

const waitingIn = (position: number, ...lanes: ReadonlyArray<string>) =>
  makeDelivery({ status: "waiting", attempts: 0, nextAttemptAt: null, position, lanes });

const failingIn = (position: number, ...lanes: ReadonlyArray<string>) =>
  makeDelivery({ nextAttemptAt: start + 60_000, position, lanes });

export const webhookCases: Cases<StoragePorts> = {
  "concurrent inserts never exceed the maximum of their scope": function* () {
    const { global, guild } = yield* makeScopes;
    const [steps, other] = [yield* webhookSteps(global), yield* webhookSteps(guild)];
    const inserted = yield* Effect.forEach(
      Array.from({ length: 8 }, () => makeWebhook(global)),
      (webhook) => steps.insert(webhook, 5),
      atOnce,
    );
    expectEqual(inserted.filter((is) => is).length, 5);
    expectEqual(yield* other.insert(makeWebhook(guild), 1), true);
    expectEqual(yield* other.insert(makeWebhook(guild), 1), false);
    expectEqual((yield* steps.list).length, 6);
  },

  "insert with a taken ID is a defect, and replaces nothing": function* () {
    const { insert, add, list } = yield* newWebhookSteps;
    const webhook = yield* add();
    yield* expectDefect(insert({ ...webhook, url: "https://other.example" }));
    expectEqual(yield* list, [{ ...webhook, pending: 0, previousSecretEndsAt: null }]);
  },

  "activating a disabled webhook clears its reason, and makes its failing deliveries due at once":
    function* () {
      const { addHeld, update, find, due } = yield* newWebhookSteps;
      const { id, recordOf } = yield* addHeld();
      const failing = makeDelivery({ nextAttemptAt: start + 9_000, position: 1, lanes: ["a"] });
      const waiting = makeDelivery({ status: "waiting", nextAttemptAt: null, position: 2, lanes: ["a"] });
      yield* recordOf({ deliveries: [failing, waiting], failedAt: start });
      const state = Effect.map(find(id), (webhook) => [webhook?.disabledReason, webhook?.failingSince]);
      yield* update(id, { disabledReason: "gone" });
      expectEqual(yield* state, ["gone", start]);
      yield* update(id, { status: "active" }, start + 1);
      expectEqual(yield* state, [null, null]);
      expectEqual([yield* due(id), yield* due(id, start + 1)], [[], [failing.eventId]]);
    },

  "an account that nobody runs any more has its webhooks paused, without the owner's words": function* () {
    const chatId = uniqueChatId();
    const account = { name: uniqueText(), chatId, tier: "free" } as const;
    const keys = yield* KeyStore;
    yield* keys.ensureAccount(account);
    const scope = yield* keys.ensureScope(account.name, { kind: "global" }, uniquePid());
    const steps = yield* webhookSteps(scope);
    const other = yield* (yield* newWebhookSteps).add();
    const { id, recordOf } = yield* steps.addHeld();
    yield* recordOf({ deliveries: [makeDelivery()] });
    yield* eraseUser(chatId);
    const closed = yield* steps.find(id);
    expectEqual([closed?.status, closed?.description], ["paused", ""]);
    expectEqual((yield* steps.find(other.id))?.status, "active");
  },

  "a lease lasts its least time from each hold on, although stores renew it late": function* () {
    const { add, store, held } = yield* newWebhookSteps;
    const { id } = yield* add();
    const [node, other] = [uniqueText(), uniqueText()];
    const holdAt = (name: string, at: number) =>
      Effect.map(store.hold({ node: name, at, until: at + 7_000, limit: 1_000_000 }), (all) => held(id, all));
    for (const at of [start, start + 2_000]) yield* holdAt(node, at);
    expectEqual(yield* holdAt(other, start + 2_000 + leaseShare * 7_000 - 1), null);
    expectEqual((yield* holdAt(other, start + 9_000))?.id, id);
  },

  "a node that takes nothing gets what it knows, until its lease has ended": function* () {
    const { add, store, held } = yield* newWebhookSteps;
    const { id } = yield* add();
    const node = uniqueText();
    const known: ReadonlyArray<HeldWebhook> = [];
    const holdAt = (at: number) => store.hold({ node, at, until: at + 7_000, limit: 1_000_000, known });
    expectEqual(held(id, yield* holdAt(start))?.id, id);
    // A store may look for changes by other processes first.
    yield* holdAt(start + 1);
    expectThat((yield* holdAt(start + 1)) === known, "the node took nothing");
    const { id: other } = yield* add();
    expectEqual(held(id, yield* holdAt(start + 2))?.id, id);
    expectEqual(held(other, yield* holdAt(start + 9_000))?.id, other);
  },

  "a webhook is failing since the first failure after its last delivery, scheduled or requested":
    function* () {
      const { addHeld, find, due, request } = yield* newWebhookSteps;
      const { id, recordOf } = yield* addHeld();
      const times = Effect.map(find(id), (webhook) => [webhook?.lastDeliveredAt, webhook?.failingSince]);
      const [failing, waiting] = [failingIn(1, "a"), waitingIn(2, "a")];
      yield* recordOf({ deliveries: [failing, waiting], failedAt: start });
      for (const write of [{ failedAt: start + 5 }, {}]) yield* recordOf(write);
      expectEqual(yield* times, [null, start]);
      yield* recordOf({ deliveredAt: start + 7 });
      expectEqual(yield* times, [start + 7, null]);
      yield* recordOf({ deliveredAt: start + 8, failedAt: start + 9 });
      expectEqual(yield* times, [start + 8, start + 9]);
      yield* request(id, failing, 500);
      expectEqual([yield* times, yield* due(id)], [[start + 8, start + 9], []]);
      yield* request(id, failing, 204);
      expectEqual([yield* times, yield* due(id, start + 1)], [[start + 1, null], [waiting.eventId]]);
    },

  "a delivery of two lanes waits until it is the first of both": function* () {
    const { addHeld, due } = yield* newWebhookSteps;
    const { id, recordOf } = yield* addHeld();
    const [first, other, moved] = [failingIn(1, "a"), failingIn(2, "b"), waitingIn(3, "b", "a")];
    yield* recordOf({ deliveries: [first, other, moved] });
    const over = (delivery: StoredDelivery) =>
      recordOf({
        deliveries: [{ ...delivery, status: "given_up", nextAttemptAt: null, lanes: [] }],
        freedLanes: delivery.lanes,
      });
    yield* over(first);
    expectEqual(yield* due(id), []);
    yield* over(other);
    expectEqual(yield* due(id), [moved.eventId]);
  },

  "recordRequested keeps changes that the schedule made during the attempt": function* () {
    const { addHeld, findDelivery, request } = yield* newWebhookSteps;
    const { id, recordOf } = yield* addHeld();
    const failing = failingIn(1, "a");
    yield* recordOf({ deliveries: [failing] });
    const tried = { ...failing, attempts: failing.attempts + 1, nextAttemptAt: start + 90_000 };
    yield* recordOf({ deliveries: [tried] });
    yield* request(id, failing, 500);
    const { attempts, nextAttemptAt } = tried;
    expectThat(
      (yield* findDelivery(id, failing.eventId))?.nextAttemptAt === nextAttemptAt,
      "a schedule that went on stays",
    );
    const delivered: StoredDelivery = { ...tried, status: "delivered", nextAttemptAt: null, lanes: [] };
    yield* recordOf({ deliveries: [delivered], freedLanes: ["a"] });
    yield* request(id, failing, 500);
    const after = yield* findDelivery(id, failing.eventId);
    expectEqual([after?.status, after?.attempts, after?.lanes], ["delivered", attempts + 1, []]);
  },

  "record keeps what a requested attempt delivered meanwhile, and frees what waited for it": function* () {
    const { addHeld, due, findDelivery, request } = yield* newWebhookSteps;
    const { id, recordOf } = yield* addHeld();
    const [failing, waiting] = [failingIn(1, "a"), waitingIn(2, "a")];
    yield* recordOf({ deliveries: [failing] });
    yield* request(id, failing, 204);
    const tried = { ...failing, attempts: failing.attempts + 1 };
    yield* recordOf({ deliveries: [tried, waiting], failedAt: start });
    const after = yield* findDelivery(id, failing.eventId);
    expectEqual([after?.status, after?.lanes, yield* due(id)], ["delivered", [], [waiting.eventId]]);
  },

  "pending counts failing and waiting deliveries, and subscribed events after the position": function* () {
    const steps = yield* newWebhookSteps;
    const links = yield* linkSteps(steps.scope);
    const [all, some] = [yield* steps.addHeld(), yield* steps.addHeld({ types: ["link.removed"] })];
    const pending = Effect.map(steps.list, (listed) => {
      const of = (id: string) => listed.find((webhook) => webhook.id === id)?.pending;
      return [of(all.id), of(some.id)];
    });
    yield* links.set(ada, chess);
    yield* links.set(bob, poker);
    yield* links.remove(ada);
    expectEqual(yield* pending, [3, 1]);
    const { end } = yield* (yield* EventStore).range(steps.scope.pid);
    const states = ["failing", "waiting", "delivered", "given_up"] as const;
    yield* all.recordOf({ position: end, deliveries: states.map((status) => makeDelivery({ status })) });
    expectEqual(yield* pending, [2, 1]);
  },

  "pending counts no more than one delivery or event beyond the most": function* () {
    const { addHeld, list, scope } = yield* newWebhookSteps;
    const { recordOf } = yield* addHeld();
    const count = Effect.map(list, ([webhook]) => webhook?.pending);
    const add = (times: number) =>
      Effect.forEach(
        Array.from({ length: times / 50 }),
        () => recordOf({ deliveries: Array.from({ length: 50 }, () => makeDelivery()) }),
        { discard: true },
      );
    yield* add(mostPending);
    expectEqual(yield* count, mostPending);
    const links = yield* linkSteps(scope);
    yield* links.set(ada, chess);
    expectEqual(yield* count, mostPending + 1);
    yield* links.set(bob, poker);
    expectEqual(yield* count, mostPending + 1);
    yield* add(50);
    expectEqual(yield* count, mostPending + 1);
  },

  "sweep deletes any number of deliveries of old events, and nothing else": function* () {
    const { addHeld, deliveries: list, store } = yield* newWebhookSteps;
    const { id, recordOf } = yield* addHeld();
    const time = 1_000_000;
    const old = Array.from({ length: 1_100 }, () =>
      makeDelivery({ eventId: uniqueEventId(time - 1), at: time - 1 }),
    );
    const kept = makeDelivery({ eventId: uniqueEventId(time), at: time });
    yield* recordOf({ deliveries: [...old, kept] });
    // The sweep may delete deliveries of other cases too.
    expectThat((yield* store.sweep(time)) >= 1_100, "sweep counts what it deletes");
    expectEqual(yield* list(id), [kept]);
  },

  "sweep makes deliveries due that waited for deleted ones": function* () {
    const { addHeld, due, store } = yield* newWebhookSteps;
    const { id, recordOf } = yield* addHeld();
    const time = 1_000_000;
    const old = { ...failingIn(1, "a", "b"), eventId: uniqueEventId(time - 1), at: time - 1 };
    const next = { ...waitingIn(2, "a"), eventId: uniqueEventId(start), at: start };
    const last = { ...waitingIn(3, "b", "a"), eventId: uniqueEventId(start), at: start };
    yield* recordOf({ deliveries: [old, next, last] });
    yield* store.sweep(time);
    expectEqual(yield* due(id), [next.eventId]);
  },
};
