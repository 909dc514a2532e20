/** The history of an account in words: a sentence about each entry of the audit log. */
import type { Actor, AuditAction, AuditEntry } from "@accountlink/core/audit";
import type { KeyDetails } from "@accountlink/core/keys";
import { type Html, html } from "../../html.ts";
import { withId } from "../look/account_name.ts";
import { nameOf } from "../look/owned_key.ts";
import { counted, numberText, timeHtml } from "../look/time.ts";

/**
 * @param entries newest first
 * @param nothing what the page says if there are no entries
 */
export const historyHtml = (
  entries: ReadonlyArray<AuditEntry>,
  names: Names,
  nothing = "Nothing is in the log so far.",
): Html =>
  entries.length === 0
    ? html`<p class="empty">${nothing}</p>`
    : html`<ul class="history" role="list">${entries.map(
        (entry) =>
          html`<li><span>${sentenceOf(entry, names)}</span> <small>${timeHtml(entry.at)}${entry.requestId === null ? null : html` · <code>${entry.requestId}</code>`}</small></li>`,
      )}</ul>`;

export interface Names {
  readonly keys: ReadonlyArray<KeyDetails>;
  readonly me: { readonly chatId: string; readonly name: string };
  /** Chat account names by ID. */
  readonly chats?: ReadonlyMap<string, string>;
  readonly games?: ReadonlyMap<string, string>;
  readonly webhooks?: ReadonlyMap<string, string>;
}

type Details = AuditEntry["details"];

const sentenceOf = (entry: AuditEntry, names: Names): string => sentences[entry.action](entry, names);

type Sentence = (entry: AuditEntry, names: Names) => string;

export const whoOf = (actor: Actor, names: Names): string => {
  const { id } = actor;
  switch (actor.type) {
    case "key":
      return keyOf(id, names);
    case "account":
      return actor.member === null ? id : personOf(actor.member, names);
    case "operator":
      return "the operator";
    case "user":
      return chatOf(id, names);
  }
};

const keyOf = (id: unknown, { keys }: Names): string => {
  const key = keys.find((known) => known.id === id);
  return key === undefined ? `Key ${String(id)}` : nameOf(key);
};

const theKey = (id: unknown, names: Names): string => {
  const name = keyOf(id, names);
  return name === `Key ${String(id)}` ? `key ${String(id)}` : `the key ${name}`;
};

const chatOf = (id: unknown, { chats }: Names): string => {
  const name = chats?.get(String(id));
  return name === undefined ? `user ${String(id)}` : withId(name, String(id));
};

const personOf = (id: string, names: Names): string =>
  id === names.me.chatId ? names.me.name : (names.chats?.get(id) ?? `user ${id}`);

const gameOf = (id: unknown, { games }: Names): string => {
  const name = games?.get(String(id));
  return name === undefined ? `account ${String(id)}` : withId(name, String(id));
};

const isBySelf = ({ actor, details }: AuditEntry): boolean =>
  actor.type === "user" && actor.id === details["chatId"];

const insteadOf = ({ previousGameId = null }: Details, names: Names): string =>
  previousGameId === null ? "" : `, in place of ${gameOf(previousGameId, names)}`;

const start = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const ofKey =
  (verb: string, rest = ""): Sentence =>
  ({ actor, details }, names) =>
    `${start(whoOf(actor, names))} ${verb} ${theKey(details["keyId"], names)}${rest}`;

const statusVerbs: Readonly<Record<string, string>> = {
  active: "enabled",
  disabled: "disabled",
  revoked: "revoked",
};

/**
 * A sentence about a webhook. The audit log does not contain the URL of a webhook, so a deleted webhook has no name.
 */
const ofWebhook =
  (act: string): Sentence =>
  ({ actor, details }, names) =>
    `${start(whoOf(actor, names))} ${act} ${webhookOf(details, names)}`;

const webhookOf = ({ webhookId }: Details, { webhooks }: Names): string => {
  const name = webhooks?.get(String(webhookId));
  return name === undefined ? "a webhook" : `the webhook ${name}`;
};

const sentences: Record<AuditAction, Sentence> = {
  "link.set": (entry, names) => {
    const { actor, details } = entry;
    const [chat, game] = [chatOf(details["chatId"], names), gameOf(details["gameId"], names)];
    return isBySelf(entry)
      ? `${start(chat)} verified as ${game}${insteadOf(details, names)}`
      : `${start(whoOf(actor, names))} linked ${chat} to ${game}${insteadOf(details, names)}${details["via"] === "import" ? ", by an import" : ""}`;
  },
  "link.moved": ({ actor, details }, names) =>
    `${start(whoOf(actor, names))} moved ${gameOf(details["gameId"], names)} from ${chatOf(details["chatId"], names)} to ${chatOf(details["newChatId"], names)}`,
  "link.removed": (entry, names) => {
    const [chat, game] = [
      chatOf(entry.details["chatId"], names),
      gameOf(entry.details["removedGameId"], names),
    ];
    return isBySelf(entry)
      ? `${start(chat)} removed their link to ${game}`
      : `${start(whoOf(entry.actor, names))} unlinked ${chat} from ${game}`;
  },
  "links.imported": ({ actor, details }, names) =>
    `${start(whoOf(actor, names))} imported links: ${numberText(Number(details["inserted"]))} new, ${numberText(Number(details["replaced"]))} replaced, ${numberText(Number(details["kept"]))} left as they were`,
  "scope.deleted": ({ actor, details }, names) =>
    `${start(whoOf(actor, names))} deleted all links of the community: ${counted(Number(details["deletedRecords"]), "record")}`,
  "review.set": ({ actor, details }, names) =>
    `${start(whoOf(actor, names))} noted that ${chatOf(details["chatId"], names)} and ${chatOf(details["otherChatId"], names)} are ${details["verdict"] === "same" ? "one person" : "two people"}`,
  "review.deleted": ({ actor, details }, names) =>
    `${start(whoOf(actor, names))} took back the note on ${chatOf(details["chatId"], names)} and ${chatOf(details["otherChatId"], names)}`,
  "key.created": ofKey("created"),
  "key.updated": ofKey("changed the rules of"),
  "key.rotated": ofKey("rotated"),
  "key.status_changed": (entry, names) =>
    ofKey(statusVerbs[String(entry.details["status"])] ?? "changed")(entry, names),
  "key.reported": ({ details }, names) =>
    `${start(theKey(details["keyId"], names))} was reported as leaked, and revoked`,
  "account.updated": ({ actor, details, pid }, names) =>
    pid === null
      ? `${start(whoOf(actor, names))} changed the account: ${Object.entries(details)
          .map(([name, value]) => `${name} ${String(value)}`)
          .join(", ")}`
      : `${start(whoOf(actor, names))} changed what users read`,
  "user.erased": () => "A user was erased",
  "webhook.created": ofWebhook("created"),
  "webhook.updated": ofWebhook("changed"),
  "webhook.deleted": ofWebhook("deleted"),
  "webhook.rotated": ofWebhook("rotated the secret of"),
  "member.added": ({ actor, details }, names) =>
    `${start(whoOf(actor, names))} ${actor.type === "operator" ? "added" : "invited"} ${chatOf(details["chatId"], names)} to the team: ${String(details["role"])}`,
  "member.accepted": ({ actor, details }, names) =>
    `${start(whoOf(actor, names))} joined the team: ${String(details["role"])}`,
  "member.declined": ({ actor }, names) =>
    `${start(whoOf(actor, names))} declined the invitation to the team`,
  "member.role_changed": ({ actor, details }, names) =>
    `${start(whoOf(actor, names))} changed the role of ${chatOf(details["chatId"], names)} from ${String(details["previousRole"])} to ${String(details["role"])}`,
  "member.removed": ({ actor, details }, names) =>
    details["chatId"] === (actor.type === "account" ? actor.member : null)
      ? `${start(whoOf(actor, names))} left the team`
      : `${start(whoOf(actor, names))} removed ${chatOf(details["chatId"], names)} from the team`,
  "roles.updated": ({ actor, details }, names) =>
    details["changed"] === "state" && details["state"] === "paused"
      ? `${start(whoOf(actor, names))} paused the roles of a community`
      : `${start(whoOf(actor, names))} changed the roles of a community`,
  "roles.deleted": ({ actor }, names) => `${start(whoOf(actor, names))} deleted the roles of a community`,
  "webhook.disabled": ({ details }, names) =>
    `${start(webhookOf(details, names))} was disabled, because its server refuses the events`,
};

export const actions: Record<AuditAction, string> = {
  "link.set": "Link set",
  "link.moved": "Link moved to another user",
  "link.removed": "Link removed",
  "links.imported": "Links imported",
  "scope.deleted": "All links deleted",
  "review.set": "Review written",
  "review.deleted": "Review deleted",
  "key.created": "Key created",
  "key.updated": "Key changed",
  "key.rotated": "Key rotated",
  "key.status_changed": "Status of a key changed",
  "key.reported": "Key reported as leaked",
  "account.updated": "Account changed",
  "user.erased": "User erased",
  "webhook.created": "Webhook created",
  "webhook.updated": "Webhook changed",
  "webhook.deleted": "Webhook deleted",
  "webhook.rotated": "Webhook rotated",
  "webhook.disabled": "Webhook disabled by the service",
  "member.added": "Member invited",
  "member.accepted": "Invitation accepted",
  "member.declined": "Invitation declined",
  "member.role_changed": "Role of a member changed",
  "member.removed": "Member removed",
  "roles.updated": "Roles changed",
  "roles.deleted": "Roles deleted",
};
