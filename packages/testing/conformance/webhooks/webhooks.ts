import type { StoragePorts } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { leaseShare } from "@accountlink/core/records";
import { Effect } from "effect";
import {
  makeDelivery,
  makeWebhook,
  uniqueChatId,
  uniquePid,
  uniqueText,
  uniqueWebhookId,
} from "../../mod.ts";
import { expectDefect, expectEqual, expectThat } from "../expect.ts";
import { atOnce, eraseUser, makeScopes } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newWebhookSteps, start, webhookSteps } from "./webhook_steps.ts";

const unknown = uniqueWebhookId();

export const webhooks: Cases<StoragePorts> = {
  "insert stores the webhook unchanged, with its secret": function* () {
    const { scope, insert, find } = yield* newWebhookSteps;
    const webhook = makeWebhook(scope, {
      url: "https://example.com/a?b=%20#c",
      types: ["link.set", "user.erased"],
      description: "Äpfel & 🎮",
      createdAt: start,
      lastDeliveredAt: start + 1,
      failingSince: start + 2,
    });
    expectEqual(yield* insert(webhook), true);
    const stored = { ...webhook, secrets: [{ sealed: "sealed", endsAt: null }] };
    expectEqual(yield* find(webhook.id), stored);
    expectEqual(yield* find(unknown), null);
  },

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

  "insert is a defect with an unknown scope or a taken ID": function* () {
    const { scope, insert, add, list } = yield* newWebhookSteps;
    const webhook = yield* add();
    yield* expectDefect(insert({ ...webhook, url: "https://other.example" }));
    yield* expectDefect(insert(makeWebhook({ ...scope, pid: uniquePid() })));
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

  "hold takes at most its limit of new webhooks per call": function* () {
    const { add, hold } = yield* newWebhookSteps;
    for (let count = 0; count < 3; count++) yield* add();
    const node = uniqueText();
    expectEqual((yield* hold(node, 2)).length, 2);
    expectThat((yield* hold(node, 2)).length > 2, "another call takes more");
  },
};
