/** The pages of webhooks: the list, a new webhook, its secret, and one delivery. */
import type { OwnGuild } from "@accountlink/core/platforms";
import type { SentDelivery, WebhookDetails } from "@accountlink/core/webhooks";
import { numberText } from "../../english_counts.ts";
import { formTo, type Html, html, section, to } from "../../html.ts";
import { scopeFields } from "../keys/key_form.ts";
import { creationPage, type ShownForm } from "../keys/new_key_page.ts";
import { copyable } from "../look/copyable.ts";
import { webhookName } from "../look/names.ts";
import { statusHtml } from "../look/notice.ts";
import { type NamedGuild, scopeText } from "../look/owned_key.ts";
import { timeHtml, timeOr } from "../look/time.ts";
import type { Page } from "../page.ts";
import { paths, webhookPath } from "../paths.ts";
import { type NewWebhookForm, webhookFields, webhookLabels } from "./webhook_form.ts";
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
