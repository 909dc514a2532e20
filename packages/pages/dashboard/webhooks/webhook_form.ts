import type { ParameterProblem } from "@accountlink/core/errors";
import type { Webhook } from "@accountlink/core/webhooks";
import { type Html, html } from "../../html.ts";
import { checkField, textField } from "../look/field.ts";
import { eventChoices } from "./webhook_texts.ts";

export interface WebhookForm {
  readonly url: string;
  readonly types: ReadonlyArray<string>;
  readonly description: string;
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

export const webhookLabels: Readonly<Record<string, string>> = {
  url: "URL",
  scope: "Communities",
  guildId: "Community",
  types: "Events",
  description: "Description",
  confirm: "Confirmation",
  status: "Status",
};

export const formOfWebhook = ({ url, types, description }: Webhook): WebhookForm => ({
  url,
  types,
  description,
});

export const typeField = (type: string): string => `type-${type}`;

export const webhookFields = (form: WebhookForm, problems: ReadonlyArray<ParameterProblem>): Html => html`
${textField({ name: "url", label: "URL", hint: "The address on your server that receives the events, such as https://example.com/links.", value: form.url, maxLength: 2000, required: true, problems })}
${textField({ name: "description", label: "Description", hint: "What it is for (optional).", value: form.description, maxLength: 300, problems })}
<details${form.types.length > 0 ? html` open` : null}>
<summary>Only some events</summary>
<fieldset class="field" id="types">
<legend>Events</legend>
<p class="hint">If none is chosen, all are sent.</p>
${eventChoices.map(({ type, label }) => checkField(typeField(type), `${label} (${type})`, form.types.includes(type)))}
</fieldset>
</details>`;
