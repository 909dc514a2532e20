import { type Html, hiddenFields, html } from "../../html.ts";
import type { Fields } from "../form_fields.ts";
import type { SentForm } from "../form_values.ts";
import { checksField, fieldsOf, textField } from "../look/field.ts";
import { typedIn } from "../owner_pages.ts";
import { eventChoices } from "./webhook_texts.ts";

const textLabels = { url: "URL", description: "Description" } as const;

export const webhookLabels = {
  ...textLabels,
  scope: "Communities",
  guildId: "Community",
  types: "Events",
  confirm: "Confirmation",
  status: "Status",
  rotate: "Rotation",
} as const;

export interface WebhookForm extends SentForm, Readonly<Record<keyof typeof textLabels, string>> {
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
  types: fields.all("types"),
  shown: fields("shown"),
});

/** The hidden field sends an empty list if no event is ticked. */
export const webhookFields = (form: WebhookForm): Html => {
  const of = fieldsOf(textLabels, form);
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
${hiddenFields({ types: "" })}
${checksField({ name: "types", label: webhookLabels.types, hint: "If none is chosen, all are sent.", values: form.types, choices: eventChoices })}
</details>`;
};
