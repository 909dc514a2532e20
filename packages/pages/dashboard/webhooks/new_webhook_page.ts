import type { OwnGuild } from "@accountlink/core/platforms";
import { html } from "../../html.ts";
import { scopeFields } from "../keys/key_form.ts";
import type { Refused } from "../keys/new_key_page.ts";
import { problemSummary } from "../look/field.ts";
import type { Page, Visitor } from "../page.ts";
import { paths } from "../paths.ts";
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
): Page => {
  const problems = refused?.problems ?? [];
  return {
    status: refused?.status ?? 200,
    title: "Create a webhook",
    section: "webhooks",
    content: html`
${refused && problemSummary(problems, webhookLabels, refused.general)}
<form method="post" action="${paths.webhooks}" class="panel">
${scopeFields(form, guilds, problems, scopeTexts)}
${webhookFields(form, problems)}
<button class="button">Create the webhook</button>
</form>
<p><a href="${paths.webhooks}">Back to the webhooks</a></p>`,
  };
};
