/** Reads the forms of webhooks, by the same rules as the bodies of the JSON routes. */
import { eventTypes } from "@accountlink/core/events";
import type { WebhookId } from "@accountlink/core/webhooks";
import { parameterReader } from "@accountlink/http/for_pages";
import { DashboardWebhooks } from "@accountlink/http-api";
import { Effect } from "effect";
import type { Fields } from "../owner_pages.ts";
import { updateOf } from "./webhook_changes.ts";
import { type NewWebhookForm, typeField, type WebhookForm } from "./webhook_form.ts";

const readNew = parameterReader(DashboardWebhooks.createWebhook);
const readUpdate = parameterReader(DashboardWebhooks.patchWebhook);

export const typedWebhook = (fields: Fields): WebhookForm => ({
  url: fields("url").trim(),
  description: fields("description").trim(),
  types: eventTypes.filter((type) => fields(typeField(type)) !== ""),
});

export const typedNewWebhook = (fields: Fields): NewWebhookForm => ({
  ...typedWebhook(fields),
  scope: fields("scope"),
  guildId: fields("guildId").trim(),
});

export const newWebhookOf = ({ scope, guildId, ...form }: NewWebhookForm) => {
  // The browser always sends the selected guild, so ignore the guild if the scope is global.
  const guild = scope === "guild" ? { guildId } : {};
  return Effect.fromResult(readNew({ ...form, scope, ...guild }, scope === "guild" ? "guild" : "global"));
};

export const webhookUpdateOf = (id: WebhookId, { url, types, description }: WebhookForm) =>
  Effect.map(
    Effect.fromResult(
      readUpdate({ id, url, types, description: description === "" ? null : description }, "global"),
    ),
    updateOf,
  );
