import { EventStore, type StoragePorts } from "@accountlink/core";
import { mostPending, type StoredDelivery } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import { makeDelivery, uniqueEventId } from "../../mod.ts";
import { expectEqual, expectThat } from "../expect.ts";
import { linkSteps } from "../links/link_steps.ts";
import { ada, bob, chess, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newWebhookSteps, start } from "./webhook_steps.ts";

/** Makes a delivery that waits for the earlier deliveries of its lanes. */
const waitingIn = (position: number, ...lanes: ReadonlyArray<string>) =>
  makeDelivery({ status: "waiting", attempts: 0, nextAttemptAt: null, position, lanes });

const failingIn = (position: number, ...lanes: ReadonlyArray<string>) =>
  makeDelivery({ nextAttemptAt: start + 60_000, position, lanes });

export const deliveries: Cases<StoragePorts> = {
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
