/** One delivery of a webhook: the request of its latest attempt, and the response. */
import type { SentDelivery, WebhookDetails } from "@accountlink/core/webhooks";
import { type Html, html } from "../../html.ts";
import { numberText, timeHtml, timeOr } from "../look/time.ts";
import { webhookName } from "../look/webhook_name.ts";
import type { Page } from "../page.ts";
import { webhookActPath, webhookPath } from "../paths.ts";
import { resultHtml } from "./webhook_texts.ts";

export const deliveryPage = (webhook: WebhookDetails, { delivery, headers, body }: SentDelivery): Page => ({
  title: `Delivery of ${delivery.type}`,
  section: "webhooks",
  content: html`
<p><a href="${webhookPath(webhook.id)}">${webhookName(webhook)}</a></p>
<dl class="facts">
<div><dt>Result</dt><dd>${resultHtml(delivery)}</dd></div>
<div><dt>Event</dt><dd>${timeHtml(delivery.at)} <small>${delivery.eventId}</small></dd></div>
<div><dt>Attempts</dt><dd>${numberText(delivery.attempts)}</dd></div>
<div><dt>Next attempt</dt><dd>${timeOr(delivery.nextAttemptAt, "none")}</dd></div>
</dl>
<form method="post" action="${webhookActPath(webhook.id, "resend")}" class="more">
<input type="hidden" name="eventId" value="${delivery.eventId}"><button class="button quiet">Send again</button>
</form>
<section>
<h2>Answer</h2>
${answer(delivery)}
</section>
<section>
<h2>Sent</h2>
<p>The latest attempt sent this. The signature is made with your secret for each attempt.</p>
<pre>POST ${webhook.url}
${Object.entries(headers).map(([name, value]) => html`${name}: ${value}\n`)}</pre>
<pre>${indented(body)}</pre>
</section>`,
});

const answer = ({ responseStatus, responseType, attemptedAt, answeredAt }: SentDelivery["delivery"]): Html =>
  responseStatus === null
    ? html`<p>There was no answer. The attempt began ${timeOr(attemptedAt, "a while ago")}.</p>`
    : html`<dl class="facts">
<div><dt>Status</dt><dd>${responseStatus}</dd></div>
<div><dt>Type</dt><dd>${responseType ?? "none"}</dd></div>
<div><dt>Time</dt><dd>${timeOr(answeredAt, "not recorded")}${answeredAt === null || attemptedAt === null ? null : html` <small>after ${numberText(answeredAt - attemptedAt)} ms</small>`}</dd></div>
</dl>
<p class="hint">The body of the answer is not kept.</p>`;

const indented = (body: string): string => JSON.stringify(JSON.parse(body), null, 2);
