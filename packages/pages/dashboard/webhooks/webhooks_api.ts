/** The JSON routes of webhooks. The forms create and change webhooks in the same way. */
import type { ScopeTarget } from "@accountlink/core";
import { type KeyOwner, originOf } from "@accountlink/core/keys";
import { GuildGuard } from "@accountlink/core/platforms";
import { Webhooks, type WebhookUpdate } from "@accountlink/core/webhooks";
import { DashboardWebhooks } from "@accountlink/http-api";
import { Effect } from "effect";
import { makeApiPipeline, type OwnerInput } from "../api_pipeline.ts";
import { given, targetOf } from "../keys/keys_api.ts";

export const webhooksApi = Effect.gen(function* () {
  const { bind } = yield* makeApiPipeline;
  const webhooks = yield* Webhooks;
  const create = yield* makeCreateWebhook;

  return [
    bind(DashboardWebhooks.getWebhooks, function* ({ owner }) {
      const listed = yield* webhooks.list(owner.account.name);
      return { data: { webhooks: listed.map(DashboardWebhooks.webhookJson) } };
    }),

    bind(DashboardWebhooks.createWebhook, function* ({ owner, values }) {
      const { secret, webhook } = yield* create(owner, values);
      return { status: 201, data: { secret, webhook: DashboardWebhooks.webhookJson(webhook) } };
    }),

    bind(DashboardWebhooks.patchWebhook, function* ({ owner, values }) {
      const { account } = owner;
      const webhook = yield* webhooks.update(account.name, values.id, updateOf(values), originOf(owner));
      return { data: { webhook: DashboardWebhooks.webhookJson(webhook) } };
    }),

    bind(DashboardWebhooks.deleteWebhook, function* ({ owner, values }) {
      yield* webhooks.remove(owner.account.name, values.id, originOf(owner));
      return { data: { deleted: true as const } };
    }),

    bind(DashboardWebhooks.rotateWebhook, function* ({ owner, values }) {
      const { secret, webhook } = yield* webhooks.rotate(owner.account.name, values.id, originOf(owner));
      return { data: { secret, webhook: DashboardWebhooks.webhookJson(webhook) } };
    }),

    bind(DashboardWebhooks.testWebhook, function* ({ owner, values }) {
      const delivery = yield* webhooks.test(owner.account.name, values.id, originOf(owner));
      return { data: { delivery: DashboardWebhooks.deliveryJson(delivery) } };
    }),

    bind(DashboardWebhooks.sendPendingDeliveries, function* ({ owner, values }) {
      const webhook = yield* webhooks.sendPending(owner.account.name, values.id);
      return { data: { webhook: DashboardWebhooks.webhookJson(webhook) } };
    }),

    bind(DashboardWebhooks.getDeliveries, function* ({ owner, values: { id, cursor: before, ...shown } }) {
      const { deliveries, next } = yield* webhooks.deliveries(owner.account.name, id, { ...shown, before });
      return { data: { deliveries: deliveries.map(DashboardWebhooks.deliveryJson), next } };
    }),

    bind(DashboardWebhooks.resendDelivery, function* ({ owner, values: { id, eventId } }) {
      const delivery = yield* webhooks.resend(owner.account.name, id, eventId, originOf(owner));
      return { data: { delivery: DashboardWebhooks.deliveryJson(delivery) } };
    }),
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
    const { account } = owner;
    const choice = { account, target, url, ...given({ types }), description: description ?? "" };
    return yield* webhooks.create(choice, originOf(owner), admission(target, owner));
  });
});

/** The changed values; a null description becomes empty. */
export const updateOf = ({ url, types, description, status }: UpdateValues): WebhookUpdate => ({
  ...given({ url, types, status }),
  ...(description === undefined ? {} : { description: description ?? "" }),
});
