/** The pages of webhooks: the list, a new webhook, its secret, one webhook, and one delivery. */

import { eventTypes } from "@accountlink/core/events";
import type { OwnGuild } from "@accountlink/core/platforms";
import type { Millis } from "@accountlink/core/timestamp";
import type { DeliveryPage, DeliveryStatus, SentDelivery, WebhookDetails } from "@accountlink/core/webhooks";
import { numberText } from "../../english_counts.ts";
import { formTo, type Html, html, section, to } from "../../html.ts";
import { marksOf } from "../form_values.ts";
import { scopeFields } from "../keys/key_form.ts";
import { creationPage, type ShownForm } from "../keys/new_key_page.ts";
import { copyable } from "../look/copyable.ts";
import { checkField, dangerTo, filtersOf, menuField, panelTo } from "../look/field.ts";
import { webhookName } from "../look/names.ts";
import { statusHtml } from "../look/notice.ts";
import { type NamedGuild, scopeText } from "../look/owned_key.ts";
import type { Refused } from "../look/refused.ts";
import { hasEarlierSecret, secretsOf } from "../look/rotation.ts";
import { nextPage, tableHtml } from "../look/table.ts";
import { timeHtml, timeOr } from "../look/time.ts";
import type { Page } from "../page.ts";
import { deliveryPath, paths, webhookPath, withQuery } from "../paths.ts";
import { type NewWebhookForm, type WebhookForm, webhookFields, webhookLabels } from "./webhook_form.ts";
import { disabledText, pendingText, resultHtml, typesText, webhookStateHtml } from "./webhook_texts.ts";

/** @param webhooks oldest first */
export const webhooksPage = (
  webhooks: ReadonlyArray<WebhookDetails>,
  guilds: ReadonlyArray<NamedGuild>,
): Page => ({
  title: "Webhooks",
  section: "webhooks",
  content: html`
<p>A webhook tells your server within a second when a user links, changes or removes an account. Each community can have
five, and your whole account another five.</p>
<p><a class="button" href="${to(paths.newWebhook)}">Create a webhook</a></p>
${
  webhooks.length === 0
    ? html`<p class="empty">There is no webhook yet. You need the URL on your server that receives the events.</p>`
    : html`<ul class="cards" role="list">${webhooks.map((webhook) => card(webhook, guilds))}</ul>`
}`,
});

const card = (webhook: WebhookDetails, guilds: ReadonlyArray<NamedGuild>): Html => html`
<li${webhook.status === "disabled" ? html` class="bad"` : null}>
<h2><a href="${to(webhookPath(webhook.id))}">${webhookName(webhook)}</a> ${webhookStateHtml(webhook)}</h2>
${webhook.status === "disabled" ? html`<p>${disabledText(webhook)}</p>` : null}
<p><code>${webhook.url}</code></p>
<dl>
<div><dt>List</dt><dd>${scopeText(webhook, guilds)}</dd></div>
<div><dt>Events</dt><dd>${typesText(webhook)}</dd></div>
<div><dt>Delivered</dt><dd>${timeOr(webhook.lastDeliveredAt, "never")}</dd></div>
<div><dt>Pending</dt><dd>${pendingText(webhook)}</dd></div>
</dl>
</li>`;

const scopeTexts = {
  guild: "Events of the links of this community",
  global: "Events of the links in the list of all your communities",
};

/** @param guilds the owner's communities; null if the platform did not report them */
export const newWebhookPage = (
  form: NewWebhookForm,
  guilds: ReadonlyArray<OwnGuild> | null,
  shown: ShownForm,
): Page =>
  creationPage("webhooks", "webhook", webhookLabels, shown, [
    scopeFields(form, guilds, scopeTexts),
    webhookFields(form),
  ]);

interface IssuedWebhook {
  readonly webhook: WebhookDetails;
  readonly secret: string;
  /** True after the webhook was created; false after its secret was replaced. */
  readonly isNew: boolean;
}

/** Shows the secret of a webhook, which is never shown again. */
export const issuedWebhookPage = ({ webhook, secret, isNew }: IssuedWebhook): Page => ({
  status: isNew ? 201 : 200,
  title: isNew ? "Your new webhook" : "The new secret of your webhook",
  section: "webhooks",
  notice: statusHtml(
    html`<strong>${webhookName(webhook)}</strong> is ready. Its secret is shown only this once: copy it now, and store
      it as a secret of your server.`,
  ),
  content: html`
<section class="panel" data-leaves-for="${to(webhookPath(webhook.id))}">
<h2>The secret</h2>
${copyable("secret", "secret", secret)}
<p>${
    isNew
      ? null
      : "For 24 hours, deliveries are signed with the previous secret as well. Replace it on your server before then. "
  }With the secret, your server can check that a delivery comes from here. Deliveries follow the Standard Webhooks
    specification: libraries for most languages check them.</p>
<h2>Check a delivery in JavaScript</h2>
${copyable("code", "code", verifying)}
</section>
<p><a class="button quiet" href="${to(webhookPath(webhook.id))}">I have copied it</a></p>`,
});

const verifying = `import { verifyWebhook } from "@accountlink/client";

const event = await verifyWebhook(request, process.env.WEBHOOK_SECRET);
console.log(event.type, event.data);`;

/** One delivery of a webhook: the request of its latest attempt, and the response. */
export const deliveryPage = (webhook: WebhookDetails, { delivery, headers, body }: SentDelivery): Page => ({
  title: `Delivery of ${delivery.type}`,
  section: "webhooks",
  content: html`
<p><a href="${to(webhookPath(webhook.id))}">${webhookName(webhook)}</a></p>
<dl class="facts">
<div><dt>Result</dt><dd>${resultHtml(delivery)}</dd></div>
<div><dt>Event</dt><dd>${timeHtml(delivery.at)} <small>${delivery.eventId}</small></dd></div>
<div><dt>Attempts</dt><dd>${numberText(delivery.attempts)}</dd></div>
<div><dt>Next attempt</dt><dd>${timeOr(delivery.nextAttemptAt, "none")}</dd></div>
</dl>
${formTo(webhookPath(webhook.id, "resend"), { eventId: delivery.eventId }, html` class="more"`)`<button class="button quiet">Send again</button>`}
${section("Answer")`
${answer(delivery)}`}
${section("Sent")`
<p>The latest attempt sent this. The signature is made with your secret for each attempt.</p>
<pre>POST ${webhook.url}
${Object.entries(headers).map(([name, value]) => html`${name}: ${value}\n`)}</pre>
<pre>${indented(body)}</pre>`}`,
});

const answer = ({ responseStatus, responseType, attemptedAt, answeredAt }: SentDelivery["delivery"]): Html =>
  responseStatus === null
    ? html`<p>There was no answer. The attempt began ${timeOr(attemptedAt, "a while ago")}.</p>`
    : html`<dl class="facts">
<div><dt>Status</dt><dd>${responseStatus}</dd></div>
<div><dt>Type</dt><dd>${responseType ?? "none"}</dd></div>
<div><dt>Time</dt><dd>${timeOr(answeredAt, "not recorded")}${
        answeredAt !== null &&
        attemptedAt !== null &&
        html` <small>after ${numberText(answeredAt - attemptedAt)} ms</small>`
      }</dd></div>
</dl>
<p class="hint">The body of the answer is not kept.</p>`;

const indented = (body: string): string => JSON.stringify(JSON.parse(body), null, 2);

interface WebhookView extends DeliveryPage {
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
</dl>
${
  webhook.status === "active" &&
  webhook.failingSince !== null &&
  html`<p>It counts as failing until a delivery arrives: when your server works again, send a test.</p>`
}`;

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
