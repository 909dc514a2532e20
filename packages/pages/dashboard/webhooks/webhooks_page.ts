import type { WebhookDetails } from "@accountlink/core/webhooks";
import { type Html, html } from "../../html.ts";
import { type NamedGuild, scopeText } from "../look/owned_key.ts";
import { numberText, timeOr } from "../look/time.ts";
import { webhookName } from "../look/webhook_name.ts";
import type { Page } from "../page.ts";
import { paths, webhookPath } from "../paths.ts";
import { disabledText, typesText, webhookStateHtml } from "./webhook_texts.ts";

export interface WebhookList {
  /** Oldest first. */
  readonly webhooks: ReadonlyArray<WebhookDetails>;
  readonly guilds: ReadonlyArray<NamedGuild>;
}

export const webhooksPage = ({ webhooks, guilds }: WebhookList, notice: Html | null): Page => ({
  title: "Webhooks",
  section: "webhooks",
  content: html`
${notice}
<p>A webhook tells your server within a second when a user links, changes or removes an account. Each community can have five, and your whole account another five.</p>
<p><a class="button" href="${paths.newWebhook}">Create a webhook</a></p>
${
  webhooks.length === 0
    ? html`<p class="empty">There is no webhook yet. You need the URL on your server that receives the events.</p>`
    : html`<ul class="cards" role="list">${webhooks.map((webhook) => card(webhook, guilds))}</ul>`
}`,
});

const card = (webhook: WebhookDetails, guilds: ReadonlyArray<NamedGuild>): Html => html`
<li${webhook.status === "disabled" ? html` class="bad"` : null}>
<h2><a href="${webhookPath(webhook.id)}">${webhookName(webhook)}</a> ${webhookStateHtml(webhook)}</h2>
${webhook.status === "disabled" ? html`<p>${disabledText(webhook)}</p>` : null}
<p><code>${webhook.url}</code></p>
<dl>
<div><dt>List</dt><dd>${scopeText(webhook, guilds)}</dd></div>
<div><dt>Events</dt><dd>${typesText(webhook)}</dd></div>
<div><dt>Delivered</dt><dd>${timeOr(webhook.lastDeliveredAt, "never")}</dd></div>
<div><dt>Pending</dt><dd>${numberText(webhook.pending)}</dd></div>
</dl>
</li>`;
