/**
 * What an act did, said on the page that it leads to.
 */
import { type Html, html } from "@accountlink/html";

const notices = {
  created: "The key was created.",
  updated: "The rules of the key were changed. Every server holds it to them within a second.",
  disabled: "The key is disabled. Every server refuses it within a second.",
  enabled: "The key is active again.",
  revoked: "The key is revoked. Every server refuses it within a second.",
  ended: "The sign-in was ended.",
  reviewed: "Your review is kept. It counts from now on.",
  forgotten: "The review is deleted.",
  said: "Saved. Users read it from now on.",
  linked: "They are linked.",
  unlinked: "They are no longer linked.",
  webhookUpdated: "The webhook was changed. This holds within a second.",
  paused: "The webhook is paused. Its events are kept.",
  resumed: "The webhook is active again.",
  deleted: "The webhook was deleted.",
  sent: "It was delivered.",
  notSent: "It was not delivered: the list says why.",
} as const;

/** The name of a notice, which goes with a redirect. */
export type NoticeName = keyof typeof notices;

/** The notice of a name from a URL; null for any other text. */
export const noticeHtml = (name: string | null): Html | null =>
  name !== null && Object.hasOwn(notices, name)
    ? statusHtml(notices[name as NoticeName], name === "notSent")
    : null;

/** A message that the page begins with. It has the focus, so that it is read out first. */
export const statusHtml = (content: string | Html, isBad = false): Html =>
  html`<div class="notice${isBad ? " bad" : ""}" role="status" tabindex="-1" autofocus><p>${content}</p></div>`;
