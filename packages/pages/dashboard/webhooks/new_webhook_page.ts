import type { OwnGuild } from "@accountlink/core/platforms";
import { scopeFields } from "../keys/key_form.ts";
import { creationPage, type Refused } from "../keys/new_key_page.ts";
import type { Page } from "../page.ts";
import { type NewWebhookForm, webhookFields, webhookLabels } from "./webhook_form.ts";

const scopeTexts = {
  guild: "Events of the links in this list",
  global: "Events of the links in the list of all your communities",
  menu: "Communities that you manage and that have the bot. Only for one community’s own list.",
};

/**
 * @param guilds the owner's communities; null if the platform did not report them
 * @param refused why the submitted form was refused; null for a new form
 */
export const newWebhookPage = (
  form: NewWebhookForm,
  guilds: ReadonlyArray<OwnGuild> | null,
  refused: Refused | null,
): Page =>
  creationPage("webhooks", "webhook", webhookLabels, refused, (problems) => [
    scopeFields(form, guilds, problems, scopeTexts),
    webhookFields(form, problems),
  ]);
