/**
 * Shows the secret of a webhook after the webhook was created or its secret was replaced. The secret is never shown
 * again.
 */
import type { WebhookDetails } from "@accountlink/core/webhooks";
import { html } from "../../html.ts";
import { copyable } from "../look/copyable.ts";
import { statusHtml } from "../look/notice.ts";
import { webhookName } from "../look/webhook_name.ts";
import type { Page } from "../page.ts";
import { webhookPath } from "../paths.ts";

export interface IssuedWebhookView {
  readonly webhook: WebhookDetails;
  readonly secret: string;
  /** True after the webhook was created; false after its secret was replaced. */
  readonly isNew: boolean;
}

export const issuedWebhookPage = ({ webhook, secret, isNew }: IssuedWebhookView): Page => ({
  status: isNew ? 201 : 200,
  title: isNew ? "Your new webhook" : "The new secret of your webhook",
  section: "webhooks",
  content: html`
${statusHtml(html`<strong>${webhookName(webhook)}</strong> is ready. Its secret is shown only this once: copy it now, and store it as a secret of your server.`)}
<section class="panel" data-leaves-for="${webhookPath(webhook.id)}">
<h2>The secret</h2>
${copyable("secret", "secret", secret)}
<p>${isNew ? null : "For 24 hours, deliveries are signed with the previous secret as well. Replace it on your server before then. "}With the secret, your server can check that a delivery comes from here. Deliveries follow the Standard Webhooks specification: libraries for most languages check them.</p>
<h2>Check a delivery in JavaScript</h2>
${copyable("code", "code", verifying)}
</section>
<p><a class="button quiet" href="${webhookPath(webhook.id)}">I have copied it</a></p>`,
});

const verifying = `import { verifyWebhook } from "@accountlink/client";

const event = await verifyWebhook(request, process.env.WEBHOOK_SECRET);
console.log(event.type, event.data);`;
