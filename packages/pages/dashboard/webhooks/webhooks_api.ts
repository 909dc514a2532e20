/** The JSON routes of webhooks. The forms create and change webhooks in the same way. */
import { guildOf, type ScopeTarget } from "@accountlink/core";
import type { EventType } from "@accountlink/core/events";
import { type KeyOwner, originOf } from "@accountlink/core/keys";
import { GuildGuard } from "@accountlink/core/platforms";
import { formatTimestamp, timeOrNull } from "@accountlink/core/timestamp";
import {
  type WebhookDelivery,
  type WebhookDetails,
  Webhooks,
  type WebhookUpdate,
} from "@accountlink/core/webhooks";
import { DashboardWebhooks } from "@accountlink/http-api";
import { Effect } from "effect";
import { makeApiPipeline, type OwnerInput } from "../api_pipeline.ts";
import { given, targetOf } from "../keys/keys_api.ts";

export const webhooksApi = Effect.gen(function* () {
  const bind = yield* makeApiPipeline;
  const webhooks = yield* Webhooks;
  const create = yield* makeCreateWebhook;

  return [
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
});

type NewValues = OwnerInput<typeof DashboardWebhooks.createWebhook.parameters>["values"];
type UpdateValues = OwnerInput<typeof DashboardWebhooks.patchWebhook.parameters>["values"];

/** Returns a function that creates a webhook; for a guild, the owner must be allowed to manage the guild. */
export const makeCreateWebhook = Effect.gen(function* () {
  const webhooks = yield* Webhooks;
  const guard = yield* GuildGuard;
  const admission = (target: ScopeTarget, { chatId }: KeyOwner) =>
    target.kind === "guild" ? guard.requireManager(target.guildId, chatId) : Effect.void;

  return Effect.fnUntraced(function* (owner: KeyOwner, values: NewValues) {
    const { url, types, description } = values;
    const target: ScopeTarget = yield* targetOf(values);
    const choice = {
      account: owner.account,
      target,
      url,
      ...given({ types }),
      description: description ?? "",
    };
    return yield* webhooks.create(choice, originOf(owner), admission(target, owner));
  });
});

/** The changed values; a null description becomes empty. */
export const updateOf = ({ url, types, description, status }: UpdateValues): WebhookUpdate => ({
  ...given({ url, types, status }),
  ...(description === undefined ? {} : { description: description ?? "" }),
});

const webhookJson = ({ id, url, scope, ...webhook }: WebhookDetails) => ({
  id,
  url,
  scope: scope.kind,
  guildId: guildOf(scope),
  pid: scope.pid,
  types: webhook.types as ReadonlyArray<EventType>,
  description: webhook.description,
  status: webhook.status,
  disabledReason: webhook.disabledReason,
  createdAt: formatTimestamp(webhook.createdAt),
  lastDeliveredAt: timeOrNull(webhook.lastDeliveredAt),
  failingSince: timeOrNull(webhook.failingSince),
  pending: webhook.pending,
});

const deliveryJson = (delivery: WebhookDelivery) => ({
  eventId: delivery.eventId,
  type: delivery.type as EventType | "test",
  at: formatTimestamp(delivery.at),
  attempts: delivery.attempts,
  status: delivery.status,
  responseStatus: delivery.responseStatus,
  error: delivery.error,
  nextAttemptAt: timeOrNull(delivery.nextAttemptAt),
});
