import { EventStore, type StoragePorts } from "@accountlink/core";
import type { StoredDelivery } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import { makeDelivery, uniqueEventId } from "../../mod.ts";
import { expectEqual, expectThat } from "../expect.ts";
import { linkSteps } from "../links/link_steps.ts";
import { ada, bob, chess, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newWebhookSteps, start } from "./webhook_steps.ts";

export const deliveries: Cases<StoragePorts> = {
  "recordRequested keeps changes that the schedule made during the attempt": function* () {
    const { addHeld, findDelivery, failRequested } = yield* newWebhookSteps;
    const { id, recordOf } = yield* addHeld();
    const failing = makeDelivery({ nextAttemptAt: start + 60_000, lanes: ["a"] });
    yield* recordOf({ deliveries: [failing] });
    const tried = { ...failing, attempts: failing.attempts + 1, nextAttemptAt: start + 90_000 };
    yield* recordOf({ deliveries: [tried] });
    yield* failRequested(id, failing);
    const { attempts, nextAttemptAt } = tried;
    expectThat(
      (yield* findDelivery(id, failing.eventId))?.nextAttemptAt === nextAttemptAt,
      "a schedule that went on stays",
    );
    const delivered: StoredDelivery = { ...tried, status: "delivered", nextAttemptAt: null, lanes: [] };
    yield* recordOf({ deliveries: [delivered], freedLanes: ["a"] });
    yield* failRequested(id, failing);
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
};
