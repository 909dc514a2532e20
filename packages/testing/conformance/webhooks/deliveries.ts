import { EventStore, type StoragePorts } from "@accountlink/core";
import type { StoredDelivery } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import { makeDelivery, uniqueEventId, uniqueWebhookId } from "../../mod.ts";
import { expectEqual, expectThat } from "../expect.ts";
import { linkSteps } from "../links/link_steps.ts";
import { ada, bob, chess, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newWebhookSteps, start } from "./webhook_steps.ts";

const unknown = uniqueWebhookId();
const idsOf = (deliveries: ReadonlyArray<StoredDelivery>) => deliveries.map(({ eventId }) => eventId);

/** Makes a delivery that waits for the earlier deliveries of its lanes. */
const waitingIn = (position: number, ...lanes: ReadonlyArray<string>) =>
  makeDelivery({ status: "waiting", attempts: 0, nextAttemptAt: null, position, lanes });

const failingIn = (position: number, ...lanes: ReadonlyArray<string>) =>
  makeDelivery({ nextAttemptAt: start + 60_000, position, lanes });

export const deliveries: Cases<StoragePorts> = {
  "record stores deliveries unchanged, and overwrites earlier states": function* () {
    const { addHeld, findDelivery, deliveries: list } = yield* newWebhookSteps;
    const { id, recordOf } = yield* addHeld();
    const failing = makeDelivery({
      at: start,
      attempts: 3,
      resends: 1,
      position: 2 ** 40,
      responseStatus: null,
      error: "timeout",
      lanes: ["a", "b"],
    });
    const answered = makeDelivery({ responseStatus: 503, error: "status", lanes: [] });
    expectEqual(yield* recordOf({ deliveries: [failing, answered] }), true);
    expectEqual(yield* findDelivery(id, failing.eventId), failing);
    expectEqual(yield* findDelivery(id, answered.eventId), answered);
    expectEqual(yield* findDelivery(id, uniqueEventId()), null);
    expectEqual(yield* findDelivery(unknown, failing.eventId), null);

    const delivered: StoredDelivery = {
      ...failing,
      status: "delivered",
      attempts: 4,
      responseStatus: 204,
      error: null,
      nextAttemptAt: null,
      lanes: [],
    };
    yield* recordOf({ deliveries: [delivered] });
    expectEqual(yield* findDelivery(id, failing.eventId), delivered);
    expectEqual((yield* list(id)).length, 2);
  },

  "record sets the time of the last delivery and of the first failure since": function* () {
    const { addHeld, find } = yield* newWebhookSteps;
    const { id, recordOf } = yield* addHeld();
    const times = Effect.map(find(id), (webhook) => [webhook?.lastDeliveredAt, webhook?.failingSince]);
    yield* recordOf({ failedAt: start });
    expectEqual(yield* times, [null, start]);
    yield* recordOf({ failedAt: start + 5 });
    expectEqual(yield* times, [null, start]);
    yield* recordOf({});
    expectEqual(yield* times, [null, start]);
    yield* recordOf({ deliveredAt: start + 7 });
    expectEqual(yield* times, [start + 7, null]);
    yield* recordOf({ deliveredAt: start + 8, failedAt: start + 9 });
    expectEqual(yield* times, [start + 8, start + 9]);
  },

  "deliveries lists deliveries newest first, by status and in pages, without waiting ones": function* () {
    const { addHeld, deliveries: list } = yield* newWebhookSteps;
    const { id, recordOf } = yield* addHeld();
    const all = Array.from({ length: 6 }, (_, index) =>
      makeDelivery({
        eventId: uniqueEventId(start + index),
        status: (["delivered", "failing", "given_up"] as const)[index % 3] as "delivered",
      }),
    );
    const waiting = waitingIn(1, "a");
    yield* recordOf({ deliveries: [...all, waiting] });
    const newest = all.toReversed();
    expectEqual(yield* list(id), newest);
    for (const status of ["delivered", "failing", "given_up"] as const) {
      const ofStatus = newest.filter((delivery) => delivery.status === status);
      expectEqual(yield* list(id, status), ofStatus);
      expectEqual(yield* list(id, status, ofStatus[0]?.eventId ?? null), ofStatus.slice(1));
    }
    expectEqual(yield* list(id, null, null, 2), newest.slice(0, 2));
    expectEqual(yield* list(id, null, newest[1]?.eventId ?? null, 2), newest.slice(2, 4));
    expectEqual(yield* list(unknown), []);
  },

  "sendPending makes scheduled retries due at once, and counts them as resends": function* () {
    const { addHeld, due, findDelivery, store } = yield* newWebhookSteps;
    const [{ id, recordOf }, other] = [yield* addHeld(), yield* addHeld()];
    const [later, isDue, foreign] = [
      makeDelivery({ nextAttemptAt: start + 60_000, resends: 1, lanes: ["a"] }),
      makeDelivery({ nextAttemptAt: start }),
      makeDelivery({ nextAttemptAt: start + 60_000 }),
    ];
    const waiting = waitingIn(2 ** 41, "a");
    const delivered = makeDelivery({ status: "delivered", nextAttemptAt: null });
    yield* recordOf({ deliveries: [later, isDue, waiting, delivered] });
    yield* other.recordOf({ deliveries: [foreign] });
    yield* store.sendPending(id, start + 1);
    yield* store.sendPending(id, start + 1);
    yield* store.sendPending(unknown, start + 1);
    expectEqual(yield* due(id, start), [isDue.eventId]);
    expectEqual(yield* due(id, start + 1), [isDue.eventId, later.eventId]);
    const hurried = { ...later, nextAttemptAt: start + 1, resends: 2 };
    for (const delivery of [hurried, isDue, waiting, delivered]) {
      expectEqual(yield* findDelivery(id, delivery.eventId), delivery);
    }
    expectEqual(yield* findDelivery(other.id, foreign.eventId), foreign);
  },

  "due returns the deliveries due at a time, earliest first": function* () {
    const { addHeld, due, store } = yield* newWebhookSteps;
    const [{ id, recordOf }, other] = [yield* addHeld(), yield* addHeld()];
    const [second, first] = [
      makeDelivery({ nextAttemptAt: start }),
      makeDelivery({ nextAttemptAt: start - 5 }),
    ];
    yield* recordOf({ deliveries: [second, first, makeDelivery({ nextAttemptAt: start + 1 })] });
    yield* other.recordOf({ deliveries: [makeDelivery({ nextAttemptAt: start })] });
    expectEqual(yield* due(id), [first.eventId, second.eventId]);
    expectEqual(idsOf(yield* store.due(id, start, 1)), [first.eventId]);
  },

  "look returns the events that have a delivery, and the lanes that are blocked": function* () {
    const { addHeld, store } = yield* newWebhookSteps;
    const [{ id, recordOf }, other] = [yield* addHeld(), yield* addHeld()];
    const [failing, waiting] = [failingIn(1, "a", "b"), waitingIn(2, "b", "c")];
    const delivered = makeDelivery({ status: "delivered", nextAttemptAt: null, lanes: [] });
    yield* recordOf({ deliveries: [failing, waiting, delivered] });
    const events = [failing, waiting, delivered].map(({ eventId }) => eventId);
    const { known, blocked } = yield* store.look(id, [...events, uniqueEventId()], ["a", "b", "c", "d"]);
    expectEqual(known.toSorted(), events.toSorted());
    expectEqual(blocked.toSorted(), ["a", "b", "c"]);
    expectEqual(yield* store.look(other.id, events, ["a"]), { known: [], blocked: [] });
    expectEqual(yield* store.look(id, [], []), { known: [], blocked: [] });
  },

  "freeing a lane makes only its first waiting delivery due": function* () {
    const { addHeld, due } = yield* newWebhookSteps;
    const { id, recordOf } = yield* addHeld();
    const failing = failingIn(1, "a");
    const [second, third, other] = [waitingIn(12, "a"), waitingIn(3, "a"), waitingIn(2, "b")];
    yield* recordOf({ deliveries: [failing, second, third, other] });
    expectEqual(yield* due(id), []);
    const delivered = { ...failing, status: "delivered", nextAttemptAt: null, lanes: [] } as const;
    yield* recordOf({ deliveries: [delivered], freedLanes: ["a"] });
    expectEqual(yield* due(id), [third.eventId]);
    yield* recordOf({ freedLanes: ["none"] });
    expectEqual(yield* due(id), [third.eventId]);
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

  "recordRequested stores an attempt of any node, and frees the lanes after a success": function* () {
    const { addHeld, find, findDelivery, due, request } = yield* newWebhookSteps;
    const { id, recordOf } = yield* addHeld();
    const [failing, waiting] = [failingIn(1, "a"), waitingIn(2, "a")];
    yield* recordOf({ deliveries: [failing, waiting], failedAt: start });
    const answered = { responseStatus: 500, responseType: null, attemptedAt: start, answeredAt: start + 1 };
    const retried = { ...failing, attempts: failing.attempts + 1, resends: 1, ...answered };
    expectEqual(yield* request(id, failing, 500), retried);
    expectEqual(yield* findDelivery(id, failing.eventId), retried);
    expectEqual((yield* find(id))?.failingSince ?? null, start);
    expectEqual(yield* due(id), []);

    yield* request(id, retried, 204, start + 2);
    const webhook = yield* find(id);
    expectEqual([webhook?.lastDeliveredAt, webhook?.failingSince], [start + 2, null]);
    expectEqual(yield* due(id, start + 2), [waiting.eventId]);

    const test = makeDelivery({ type: "test", status: "waiting", attempts: 0, position: null, lanes: [] });
    yield* request(id, { ...test, nextAttemptAt: null }, 500);
    expectEqual((yield* findDelivery(id, test.eventId))?.status, "given_up");
    expectEqual(yield* request(unknown, test, 500), null);
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
    const [next, last] = [waitingIn(2, "a"), waitingIn(3, "b", "a")].map((delivery) => ({
      ...delivery,
      eventId: uniqueEventId(start),
      at: start,
    })) as [StoredDelivery, StoredDelivery];
    yield* recordOf({ deliveries: [old, next, last] });
    yield* store.sweep(time);
    expectEqual(yield* due(id), [next.eventId]);
  },
};
