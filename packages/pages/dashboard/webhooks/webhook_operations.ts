/** What members do with webhooks, by JSON and by the forms of the pages. */
import { originOf } from "@accountlink/core/keys";
import { GuildGuard } from "@accountlink/core/platforms";
import { type WebhookDelivery, type WebhookDetails, Webhooks } from "@accountlink/core/webhooks";
import { DashboardWebhooks } from "@accountlink/http-api";
import { Effect } from "effect";
import { makeOperation } from "../api_pipeline.ts";
import { given } from "../form_values.ts";
import { targetOf } from "../keys/key_operations.ts";

export const makeWebhookOperations = Effect.gen(function* () {
  const operation = yield* makeOperation;
  const webhooks = yield* Webhooks;
  const guard = yield* GuildGuard;

  return {
    list: operation(
      DashboardWebhooks.getWebhooks,
      ({ owner }) => webhooks.list(owner.account.name),
      (listed) => ({ webhooks: listed.map(DashboardWebhooks.webhookJson) }),
    ),

    create: operation(
      DashboardWebhooks.createWebhook,
      function* ({ owner: { account, ...owner }, values }) {
        const { url, types, description } = values;
        const target = yield* targetOf(values);
        const admission =
          target.kind === "guild" ? guard.requireManager(target.guildId, [owner.chatId]) : Effect.void;
        const choice = { account, target, url, ...given({ types }), description: description ?? "" };
        return yield* webhooks.create(choice, originOf({ account, ...owner }), admission);
      },
      ({ secret, webhook }) => ({ secret, ...dataOf(webhook) }),
    ),

    update: operation(
      DashboardWebhooks.patchWebhook,
      ({ owner, values: { id, description, ...values } }) => {
        const text = description === undefined ? {} : { description: description ?? "" };
        return webhooks.update(owner.account.name, id, { ...given(values), ...text }, originOf(owner));
      },
      dataOf,
    ),

    remove: operation(DashboardWebhooks.deleteWebhook, ({ owner, values }) =>
      Effect.as(webhooks.remove(owner.account.name, values.id, originOf(owner)), { deleted: true as const }),
    ),

    rotate: operation(
      DashboardWebhooks.rotateWebhook,
      ({ owner, values }) => webhooks.rotate(owner.account.name, values.id, originOf(owner)),
      ({ secret, webhook }) => ({ secret, ...dataOf(webhook) }),
    ),

    test: operation(
      DashboardWebhooks.testWebhook,
      ({ owner, values }) => webhooks.test(owner.account.name, values.id, originOf(owner)),
      deliveryAnswer,
    ),

    sendPending: operation(
      DashboardWebhooks.sendPendingDeliveries,
      ({ owner, values }) => webhooks.sendPending(owner.account.name, values.id),
      dataOf,
    ),

    deliveries: operation(
      DashboardWebhooks.getDeliveries,
      ({ owner, values: { id, cursor: before, ...shown } }) =>
        webhooks.deliveries(owner.account.name, id, { ...shown, before }),
      ({ deliveries, next }) => ({ deliveries: deliveries.map(DashboardWebhooks.deliveryJson), next }),
    ),

    resend: operation(
      DashboardWebhooks.resendDelivery,
      ({ owner, values }) => webhooks.resend(owner.account.name, values.id, values.eventId, originOf(owner)),
      deliveryAnswer,
    ),
  };
});

const dataOf = (webhook: WebhookDetails) => ({ webhook: DashboardWebhooks.webhookJson(webhook) });

const deliveryAnswer = (delivery: WebhookDelivery) => ({
  delivery: DashboardWebhooks.deliveryJson(delivery),
});
