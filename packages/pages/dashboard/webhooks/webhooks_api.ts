import { originOf } from "@accountlink/core/keys";
import { Webhooks } from "@accountlink/core/webhooks";
import type { BoundRoute } from "@accountlink/http/for_pages";
import { DashboardWebhooks } from "@accountlink/http-api";
import { Effect } from "effect";
import { makeApiPipeline } from "../api_pipeline.ts";
import { makeCreateWebhook, updateOf } from "./webhook_changes.ts";
import { deliveryJson, webhookJson } from "./webhook_json.ts";

export const webhooksApi = Effect.gen(function* () {
  const bind = yield* makeApiPipeline;
  const webhooks = yield* Webhooks;
  const create = yield* makeCreateWebhook;

  const routes: ReadonlyArray<BoundRoute> = [
    bind(DashboardWebhooks.getWebhooks, ({ owner }) =>
      Effect.map(webhooks.list(owner.account.name), (listed) => ({
        data: { webhooks: listed.map(webhookJson) },
      })),
    ),

    bind(DashboardWebhooks.createWebhook, ({ owner, values }) =>
      Effect.map(create(owner, values), ({ secret, webhook }) => ({
        status: 201 as const,
        data: { secret, webhook: webhookJson(webhook) },
      })),
    ),

    bind(DashboardWebhooks.patchWebhook, ({ owner, values }) =>
      Effect.map(
        webhooks.update(owner.account.name, values.id, updateOf(values), originOf(owner)),
        (webhook) => ({ data: { webhook: webhookJson(webhook) } }),
      ),
    ),

    bind(DashboardWebhooks.deleteWebhook, ({ owner, values }) =>
      Effect.as(webhooks.remove(owner.account.name, values.id, originOf(owner)), {
        data: { deleted: true as const },
      }),
    ),

    bind(DashboardWebhooks.rotateWebhook, ({ owner, values }) =>
      Effect.map(webhooks.rotate(owner.account.name, values.id, originOf(owner)), ({ secret, webhook }) => ({
        data: { secret, webhook: webhookJson(webhook) },
      })),
    ),

    bind(DashboardWebhooks.testWebhook, ({ owner, values }) =>
      Effect.map(webhooks.test(owner.account.name, values.id, originOf(owner)), (delivery) => ({
        data: { delivery: deliveryJson(delivery) },
      })),
    ),

    bind(DashboardWebhooks.sendPendingDeliveries, ({ owner, values }) =>
      Effect.map(webhooks.sendPending(owner.account.name, values.id), (webhook) => ({
        data: { webhook: webhookJson(webhook) },
      })),
    ),

    bind(DashboardWebhooks.getDeliveries, ({ owner, values: { id, limit, cursor, status } }) =>
      Effect.map(
        webhooks.deliveries(owner.account.name, id, { limit, status, before: cursor }),
        ({ deliveries, next }) => ({ data: { deliveries: deliveries.map(deliveryJson), next } }),
      ),
    ),

    bind(DashboardWebhooks.resendDelivery, ({ owner, values: { id, eventId } }) =>
      Effect.map(webhooks.resend(owner.account.name, id, eventId, originOf(owner)), (delivery) => ({
        data: { delivery: deliveryJson(delivery) },
      })),
    ),
  ];
  return routes;
});
