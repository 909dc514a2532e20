/** Creates and changes webhooks for owners, for the JSON routes and for the forms. */
import type { ScopeTarget } from "@accountlink/core";
import { type KeyOwner, originOf } from "@accountlink/core/keys";
import { GuildGuard } from "@accountlink/core/platforms";
import { Webhooks, type WebhookUpdate } from "@accountlink/core/webhooks";
import type { DashboardWebhooks } from "@accountlink/http-api";
import { Effect } from "effect";
import type { OwnerInput } from "../api_pipeline.ts";
import { given, targetOf } from "../keys/keys_api.ts";

type NewValues = OwnerInput<typeof DashboardWebhooks.createWebhook.parameters>["values"];
type UpdateValues = OwnerInput<typeof DashboardWebhooks.patchWebhook.parameters>["values"];

/**
 * Returns a function that creates a webhook. For a webhook of a guild, the owner must be allowed to manage the guild.
 */
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
