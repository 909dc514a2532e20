import type { StoragePorts } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { Effect } from "effect";
import { makeDelivery, uniqueText } from "../../mod.ts";
import { expectEqual, expectThat } from "../expect.ts";
import { atOnce, origin } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newWebhookSteps, start } from "./webhook_steps.ts";

export const holds: Cases<StoragePorts> = {
  "concurrent hold: exactly one node holds the webhook": function* () {
    const { add, hold, held } = yield* newWebhookSteps;
    const { id } = yield* add();
    const nodes = Array.from({ length: 5 }, uniqueText);
    const holding = yield* Effect.forEach(
      nodes,
      (node) => Effect.map(hold(node), (all) => held(id, all)),
      atOnce,
    );
    expectEqual(holding.filter((webhook) => webhook !== null).length, 1);
  },

  "another node takes over a webhook exactly when its hold expires": function* () {
    const { add, hold, held } = yield* newWebhookSteps;
    const { id } = yield* add();
    const [first, second] = [uniqueText(), uniqueText()];
    expectEqual(held(id, yield* hold(first))?.id ?? null, id);
    expectEqual(held(id, yield* hold(second, start + 6_999)), null);
    expectEqual(held(id, yield* hold(second, start + 7_000))?.id ?? null, id);
    expectEqual(held(id, yield* hold(first, start + 7_001)), null);
  },

  "a node keeps its webhooks while it renews its hold": function* () {
    const { add, hold, held } = yield* newWebhookSteps;
    const { id } = yield* add();
    const [first, second] = [uniqueText(), uniqueText()];
    for (const at of [0, 1_000, 3_000, 6_000, 9_000, 14_000]) yield* hold(first, start + at);
    expectEqual(held(id, yield* hold(second, start + 15_000)), null);
    expectEqual(held(id, yield* hold(first, start + 15_000))?.id ?? null, id);
  },

  "a node that ends its hold releases its webhooks at once": function* () {
    const { add, hold, held } = yield* newWebhookSteps;
    const { id } = yield* add();
    const [first, second] = [uniqueText(), uniqueText()];
    yield* hold(first);
    expectEqual(yield* hold(first, start + 1, start + 1), []);
    expectEqual(held(id, yield* hold(second, start + 2))?.id ?? null, id);
  },

  "hold takes at most its limit of new webhooks per call": function* () {
    const { add, hold } = yield* newWebhookSteps;
    for (let count = 0; count < 3; count++) yield* add();
    const node = uniqueText();
    expectEqual((yield* hold(node, start, start + 7_000, 2)).length, 2);
    expectThat((yield* hold(node, start, start + 7_000, 2)).length > 2, "another call takes more");
  },

  "hold returns only active webhooks of accounts that are not suspended": function* () {
    const { scope, add, addHeld, hold, held, update, disable } = yield* newWebhookSteps;
    const keys = yield* KeyStore;
    const { id, node } = yield* addHeld();
    const isHeld = Effect.map(hold(node), (all) => held(id, all) !== null);
    yield* update(id, { status: "paused" });
    expectEqual(yield* isHeld, false);
    yield* update(id, { status: "active" });
    expectEqual(yield* isHeld, true);
    yield* disable(id);
    expectEqual(yield* isHeld, false);
    yield* update(id, { status: "active" });
    const setStatus = (status: "active" | "suspended") =>
      keys.updateAccount({ ...origin, name: scope.account, update: { status }, at: start });
    yield* setStatus("suspended");
    expectEqual(yield* isHeld, false);
    yield* setStatus("active");
    expectEqual(yield* isHeld, true);
    yield* add({ status: "paused" });
    expectEqual(yield* isHeld, true);
  },

  "hold returns the position, next attempt and oldest failure of a webhook": function* () {
    const { addHeld, find } = yield* newWebhookSteps;
    const { id, recordOf, reheld } = yield* addHeld({}, 17);
    const stored = yield* find(id);
    const none = { nextAttemptAt: null, oldestFailingAt: null };
    expectEqual(yield* reheld, stored && { ...stored, position: 17, ...none });
    const at = start - 5_000;
    yield* recordOf({
      position: 30,
      deliveries: [
        makeDelivery({ status: "delivered", at: start - 9_000, nextAttemptAt: null }),
        makeDelivery({ status: "waiting", at, nextAttemptAt: null }),
        makeDelivery({ at: start - 1_000, nextAttemptAt: start + 5_000 }),
        makeDelivery({ at: start - 2_000, nextAttemptAt: start + 2_000 }),
      ],
    });
    expectEqual(
      yield* reheld,
      stored && { ...stored, position: 30, nextAttemptAt: start + 2_000, oldestFailingAt: at },
    );
  },

  "record changes nothing for a node that does not hold the webhook": function* () {
    const steps = yield* newWebhookSteps;
    const { id, node, recordOf, reheld } = yield* steps.addHeld();
    const before = yield* reheld;
    const write = { position: 9, deliveries: [makeDelivery()], failedAt: start };
    expectEqual(yield* steps.record(id, uniqueText(), write), false);
    expectEqual(yield* reheld, before);
    expectEqual(yield* steps.deliveries(id), []);

    yield* steps.hold(uniqueText(), start + 7_000);
    expectEqual(yield* recordOf(write), false);
    expectEqual(yield* steps.deliveries(id), []);
    yield* steps.remove(id);
    expectEqual(yield* steps.record(id, node, write), false);
  },
};
