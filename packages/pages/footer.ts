/** The footer of every page: privacy policy, contact, and the request ID, as logs have it. */
import { type Html, html, to } from "./html.ts";
import { type Language, own } from "./languages/language.ts";
import type { PageSettingsShape } from "./page_settings.ts";

/** @param more what the footer ends with */
export const footerHtml = (
  language: Language,
  { privacyUrl, contact }: Pick<PageSettingsShape, "privacyUrl" | "contact">,
  requestId: string,
  more: Html | null = null,
): Html => html`
<footer>
${privacyUrl !== null && html`<p><a href="${to(privacyUrl)}">${language.text("footer.privacy")}</a></p>`}
${contact !== null && html`<p>${language.html("footer.contact", { contact: contactHtml(contact) })}</p>`}
<p>${language.html("footer.request", { id: html`<code>${requestId}</code>` })}</p>
${more}
</footer>`;

export const contactHtml = (contact: string): Html => {
  const address = addressOf(contact);
  return address === null ? own(contact) : html`<a href="${to(address)}">${contact}</a>`;
};

const addressOf = (contact: string): string | null => {
  if (/^https?:\/\/\S+$/.test(contact)) return contact;
  return /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/.test(contact) ? `mailto:${contact}` : null;
};
