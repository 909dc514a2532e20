/** The form of a webhook: its fields, and how they are read, by the same rules as the bodies of the JSON routes. */
import type { ParameterProblem } from "@accountlink/core/errors";
import { eventTypes } from "@accountlink/core/events";
import type { WebhookId } from "@accountlink/core/webhooks";
import { DashboardWebhooks } from "@accountlink/http-api";
import { Effect } from "effect";
import { type Html, html } from "../../html.ts";
import { valuesReader } from "../api_pipeline.ts";
import { checkField, fieldsOf, textField } from "../look/field.ts";
import { type Fields, typedIn } from "../owner_pages.ts";
import { eventChoices } from "./webhook_texts.ts";
import { updateOf } from "./webhooks_api.ts";

const textLabels = { url: "URL", description: "Description" } as const;

export const webhookLabels = {
  ...textLabels,
  scope: "Communities",
  guildId: "Community",
  types: "Events",
  confirm: "Confirmation",
  status: "Status",
} as const;

export interface WebhookForm extends Readonly<Record<keyof typeof textLabels, string>> {
  readonly types: ReadonlyArray<string>;
}

export interface NewWebhookForm extends WebhookForm {
  readonly scope: string;
  readonly guildId: string;
}

export const emptyWebhookForm: NewWebhookForm = {
  url: "",
  types: [],
  description: "",
  scope: "guild",
  guildId: "",
};

export const typedWebhook = (fields: Fields): NewWebhookForm => ({
  ...typedIn(webhookLabels, fields),
  types: eventTypes.filter((type) => fields(typeField(type)) !== ""),
});

const typeField = (type: string): string => `type-${type}`;

export const webhookFields = (form: WebhookForm, problems: ReadonlyArray<ParameterProblem>): Html => {
  const of = fieldsOf(textLabels, form, problems);
  return html`
${textField({
  ...of("url"),
  hint: "The address on your server that receives the events, such as https://example.com/links.",
  maxLength: 2000,
  required: true,
})}
${textField({ ...of("description"), hint: "What it is for (optional).", maxLength: 300 })}
<details${form.types.length > 0 ? html` open` : null}>
<summary>Only some events</summary>
<fieldset class="field" id="types">
<legend>Events</legend>
<p class="hint">If none is chosen, all are sent.</p>
${eventChoices.map(({ type, label }) => checkField(typeField(type), `${label} (${type})`, form.types.includes(type)))}
</fieldset>
</details>`;
};

const readNew = valuesReader(DashboardWebhooks.createWebhook);
const readUpdate = valuesReader(DashboardWebhooks.patchWebhook);

export const newWebhookOf = ({ url, types, description, scope, guildId }: NewWebhookForm) => {
  // The browser always sends the selected guild, so ignore the guild if the scope is global.
  const guild = scope === "guild" ? { guildId } : {};
  return readNew({ url, types, description, scope, ...guild });
};

export const webhookUpdateOf = (id: WebhookId, { url, types, description }: WebhookForm) =>
  Effect.map(readUpdate({ id, url, types, description: description || null }), updateOf);
