/** Sends the events of the webhooks that this node holds. Other nodes take over the webhooks of a dead node. */
import { Context, Effect, Layer, Metric } from "effect";
import { type Courier, makeCouriers, makeNode, readGreatest } from "../../couriers/couriers.ts";
import { TurnAccount, Turns } from "../../turns/mod.ts";
import { type HeldWebhook, WebhookStore } from "../webhook_store.ts";
import { attemptsDueUntil } from "./attempt.ts";
import { makeCourierRun } from "./courier.ts";
import type { WebhookCourier } from "./webhook_feed.ts";

/**
 * The places of concurrent attempts on this node, which take up to ten seconds each: of all accounts, and of an account
 * while others wait.
 */
const places = { places: 128, share: 16 } as const;

const backlog = Metric.gauge("accountlink_webhook_backlog_seconds", {
  description: "Age of the oldest event that this node has read and not tried to deliver",
});

const failing = Metric.gauge("accountlink_webhook_failing_seconds", {
  description: "Age of the oldest event whose delivery fails or waits, of all webhooks of this node",
});

const slowest = Metric.gauge("accountlink_webhook_slowest_seconds", {
  description: "The longest of the latest attempts of all webhooks of this node",
});

/** Sends events with the adapter's `WebhookSender`. Without an adapter, every attempt fails. @internal */
export class WebhookCouriers extends Context.Service<WebhookCouriers>()("@accountlink/core/WebhookCouriers", {
  make: Effect.gen(function* () {
    const store = yield* WebhookStore;
    const run = yield* makeCourierRun;
    const node = { ...makeNode(), turns: new Turns({ resource: "webhooks", ...places }) };
    const couriers = yield* makeCouriers({
      topic: "webhooks",
      items: "webhooks",
      problem: "Cannot send webhooks",
      node,
      hold: (hold) => store.hold(hold),
      idOf: ({ id }) => id,
      make: (courier: Courier<HeldWebhook>): WebhookCourier => ({
        ...courier,
        oldestAt: null,
        latestAttempt: 0,
      }),
      run: (courier) =>
        Effect.ensuring(
          Effect.provideService(run(node, courier), TurnAccount, courier.item.scope.account),
          Effect.sync(() => {
            courier.oldestAt = null;
          }),
        ),
      isDue: ({ item }, at) =>
        item.nextAttemptAt !== null && item.nextAttemptAt <= attemptsDueUntil(item, at),
      hearsSessions: true,
    });
    yield* readGreatest(backlog, couriers, ({ oldestAt }, now) => now - (oldestAt ?? now));
    yield* readGreatest(failing, couriers, ({ item }, now) => now - (item.oldestFailingAt ?? now));
    yield* readGreatest(slowest, couriers, ({ latestAttempt }) => latestAttempt);
    return {
      /**
       * Prevents further attempts, because the node is stopping. Attempts that are already running end before the scope
       * closes.
       */
      stop: couriers.stop,
    };
  }),
}) {
  static readonly layer = Layer.effect(WebhookCouriers, WebhookCouriers.make);
}
