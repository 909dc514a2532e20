/** The page of one webhook: its status, its deliveries, and its actions. */
import { eventTypes } from "@accountlink/core/events";
import type { Millis } from "@accountlink/core/timestamp";
import type { DeliveryPage, DeliveryStatus, WebhookDetails } from "@accountlink/core/webhooks";
import { numberText } from "../../english_counts.ts";
import { formTo, type Html, html, section, to } from "../../html.ts";
import { marksOf } from "../form_values.ts";
import { checkField, dangerTo, filtersOf, menuField, panelTo } from "../look/field.ts";
import { webhookName } from "../look/names.ts";
import { type NamedGuild, scopeText } from "../look/owned_key.ts";
import type { Refused } from "../look/refused.ts";
import { hasEarlierSecret, secretsOf } from "../look/rotation.ts";
import { nextPage, tableHtml } from "../look/table.ts";
import { timeHtml, timeOr } from "../look/time.ts";
import type { Page } from "../page.ts";
import { deliveryPath, webhookPath, withQuery } from "../paths.ts";
import { type WebhookForm, webhookFields, webhookLabels } from "./webhook_form.ts";
import { disabledText, pendingText, resultHtml, typesText, webhookStateHtml } from "./webhook_texts.ts";

export interface WebhookView extends DeliveryPage {
  readonly webhook: WebhookDetails;
  readonly guilds: ReadonlyArray<NamedGuild>;
  readonly filter: DeliveryStatus | null;
  readonly now: Millis;
}

/** @param form the values in the fields: the webhook's values, or the submitted values if they were refused */
export const webhookPage = (view: WebhookView, form: WebhookForm, refused: Refused | null): Page => ({
  title: webhookName(view.webhook),
  section: "webhooks",
  refused,
  labels: webhookLabels,
  content: html`
${facts(view)}
${sendForms(view.webhook)}
${deliveries(view)}
${acts(view, form)}`,
});

const facts = ({ webhook, guilds }: WebhookView): Html => html`
${webhook.status === "disabled" ? html`<div class="notice bad" role="alert"><p>${disabledText(webhook)}</p></div>` : null}
<p>${webhookStateHtml(webhook)} <code>${webhook.url}</code></p>
<dl class="facts">
<div><dt>List</dt><dd>${scopeText(webhook, guilds)}</dd></div>
<div><dt>Events</dt><dd>${typesText(webhook)}</dd></div>
<div><dt>Pending</dt><dd>${pendingText(webhook)}</dd></div>
<div><dt>Last delivered</dt><dd>${timeOr(webhook.lastDeliveredAt, "never")}</dd></div>
${webhook.failingSince !== null && html`<div><dt>Failing since</dt><dd>${timeHtml(webhook.failingSince)}</dd></div>`}
<div><dt>Created</dt><dd>${timeHtml(webhook.createdAt)}</dd></div>
</dl>`;

const sendForms = ({ id, status, pending }: WebhookDetails): Html => html`
${formTo(webhookPath(id, "test"), {}, html` class="more"`)`<button class="button">Send a test</button>`}
${
  status === "active" &&
  pending > 0 &&
  formTo(
    webhookPath(id, "send-pending"),
    {},
    html` class="more"`,
  )`<button class="button quiet">Send what waits now</button>`
}`;

const statuses = [
  { value: "", label: "All" },
  { value: "delivered", label: "Delivered" },
  { value: "failing", label: "Failing" },
  { value: "given_up", label: "Given up" },
];

const deliveries = ({ webhook, filter, next, ...view }: WebhookView) => section("Deliveries", "deliveries")`
${filtersOf(webhookPath(webhook.id), "Show")`
${menuField({ name: "status", label: "Which", value: filter ?? "", choices: statuses })}`}
${tableHtml({
  id: "delivery-list",
  caption: "Deliveries, newest first",
  columns: [
    [
      "Event",
      ({ type, eventId }) =>
        html`<a href="${to(deliveryPath(webhook.id, eventId))}">${type}</a> <small>${eventId}</small>`,
    ],
    ["When", ({ at }) => timeHtml(at)],
    ["Result", resultHtml],
    ["Attempts", ({ attempts }) => numberText(attempts), "number"],
    ["Next attempt", ({ nextAttemptAt }) => timeOr(nextAttemptAt, "none")],
    [
      "Again",
      ({ eventId }) => formTo(webhookPath(webhook.id, "resend"), { eventId })`<button
    class="button quiet small">Send again</button>`,
    ],
  ],
  rows: view.deliveries,
  empty: "There are no deliveries yet. New ones are listed here.",
})}
${nextPage(next && withQuery(webhookPath(webhook.id), { status: filter, cursor: next }), "Older deliveries")}`;

const acts = ({ webhook, now }: WebhookView, form: WebhookForm): Html => {
  const { id, status, pending, url, description } = webhook;
  // A form sends its types in the order of the choices.
  const types = eventTypes.filter((type) => webhook.types.includes(type));
  const shown = form.shown ?? marksOf({ url, description, types });
  const isActive = status === "active";
  return html`
${section("Settings")`
${panelTo(webhookPath(id, "update"), { shown })`
${webhookFields(form)}
<button class="button">Save</button>`}`}
${section(isActive ? "Pause" : "Activate")`
${panelTo(webhookPath(id, "status"))`
<p>${
  isActive
    ? "While the webhook is paused, events are kept. They are sent when you activate it again."
    : "Events that were kept are sent in order, and failed deliveries are retried at once."
}</p>
<button class="button quiet" name="status" value="${isActive ? "paused" : "active"}">${
  isActive ? "Pause the webhook" : "Activate the webhook"
}</button>`}`}
${section("Rotate", "rotate")`
${panelTo(webhookPath(id, "rotate"), { seen: secretsOf(webhook) })`
<p>The new secret is shown once. For 24 hours, deliveries are signed with both secrets${
  hasEarlierSecret(webhook, now) ? ", and no longer with the earlier one" : null
}.</p>
<button class="button quiet">Rotate the secret</button>`}`}
${section("Delete")`
${dangerTo(webhookPath(id, "delete"))`
<p>Nothing more is sent${pending > 0 && `, and ${pendingText({ pending })} waiting ${pending === 1 ? "event is" : "events are"} lost`}. The list of deliveries is deleted too.</p>
${checkField("confirm", "Delete it for good", false)}
<button class="button bad">Delete the webhook</button>`}`}`;
};
