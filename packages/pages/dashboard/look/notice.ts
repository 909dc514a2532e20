/** Shows the result of an action on the page to which the action redirects. */
import { type Html, html } from "../../html.ts";

const notices = {
  created: "The key was created.",
  updated: "The rules of the key were changed. They apply within a second.",
  disabled: "The key is disabled. It is refused within a second.",
  enabled: "The key is active again.",
  revoked: "The key is revoked. It is refused within a second.",
  ended: "The sign-in was ended.",
  memberInvited: "Invited. They accept after they sign in, within 14 days.",
  declined: "The invitation was declined.",
  roleChanged: "The role was changed. It applies at once.",
  memberRemoved: "No longer in the team.",
  reviewed: "Your review is saved. It counts from now on.",
  forgotten: "The review is deleted.",
  said: "Saved. Users see it from now on.",
  ages: "Saved. It holds for new links from now on.",
  renamed: "The account has its new name.",
  dataDeleted: "The data of this list is deleted.",
  linked: "The accounts are linked.",
  alreadyLinked: "These accounts are linked already. Nothing was changed.",
  blocked: "Blocked. Verifications and other links of the user are refused from now on.",
  unblocked: "No longer blocked. The user may verify again.",
  unlinked: "The accounts are no longer linked in this list.",
  unlinkedAll: "The user is no longer linked in any list.",
  unlinkedSeveral: "The selected users are no longer linked in this list.",
  webhookUpdated: "The webhook was changed. The change applies within a second.",
  paused: "The webhook is paused. Its events are kept.",
  resumed: "The webhook is active again.",
  deleted: "The webhook was deleted.",
  sent: "The event was delivered.",
  pendingSent: "What waited is sent now.",
  linkingOn: "Linking is on: members type /verify. Nobody gets or loses a role.",
  rolesSame: "These rules are on already. Nothing was changed.",
  rolesOn: "Saved and on. Everyone is compared now; new links follow within seconds.",
  rolesPaused: "Saved. Nothing is changed while the rules are paused.",
  rolesDeleted: "The rules are deleted. Members keep what they have.",
  sweeping: "Everyone is compared now.",
  logOn: "Saved. The bot tells in this channel what happens from now on.",
  logOff: "Saved. The bot tells nothing any more.",
  panelPosted: "The panel is in the channel.",
  noneSelected: "No user was selected. Tick the boxes beside their names first.",
  downloading: "A file with names is being downloaded for your account. Wait until it is complete.",
  notSent: "The delivery failed. The list shows why.",
} as const;

const bad: ReadonlySet<string> = new Set(["downloading", "notSent", "noneSelected"]);

/** The name of a notice. The redirect after an action contains it as the query parameter `done`. */
export type NoticeName = keyof typeof notices;

/** The notice named in a URL; null for unknown names. */
export const noticeHtml = (name: unknown): Html | null =>
  typeof name === "string" && Object.hasOwn(notices, name)
    ? statusHtml(notices[name as NoticeName], bad.has(name) ? "bad" : "good")
    : null;

/** Renders a message for the start of the page. Screen readers announce it first, because it gets the focus. */
export const statusHtml = (content: string | Html, tone: "good" | "warn" | "bad" = "good"): Html =>
  html`<div class="notice ${tone}" role="status" tabindex="-1" autofocus><p>${content}</p></div>`;
