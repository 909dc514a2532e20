/**
 * The footer of every page: privacy policy and contact. Error pages add the request ID, by which operators find the log
 * entry.
 */
import { type Html, html } from "./html.ts";
import type { PageSettingsShape } from "./page_settings.ts";

export const footerHtml = (
  { privacyUrl, contact }: Pick<PageSettingsShape, "privacyUrl" | "contact">,
  { status }: { readonly status: number },
  requestId: string,
): Html => html`
<footer>
${privacyUrl === null ? null : html`<p><a href="${privacyUrl}">Privacy policy</a></p>`}
${contact === null ? null : html`<p>Contact: ${contactHtml(contact)}</p>`}
${status < 400 ? null : html`<p>Request <code>${requestId}</code></p>`}
</footer>`;

export const contactHtml = (contact: string): Html => {
  const address = addressOf(contact);
  return address === null ? html`${contact}` : html`<a href="${address}">${contact}</a>`;
};

const addressOf = (contact: string): string | null => {
  if (/^https?:\/\/\S+$/.test(contact)) return contact;
  return /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/.test(contact) ? `mailto:${contact}` : null;
};
