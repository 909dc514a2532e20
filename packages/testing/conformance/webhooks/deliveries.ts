import { EventStore, type StoragePorts } from "@accountlink/core";
import type { StoredDelivery } from "@accountlink/core/webhooks";
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
