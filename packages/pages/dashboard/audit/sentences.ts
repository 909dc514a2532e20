/** The history of an account in words: a sentence about each entry of the audit log. */
import type { Actor, AuditAction, AuditEntry } from "@accountlink/core/audit";
import type { KeyDetails } from "@accountlink/core/keys";
import { type Html, html } from "../../html.ts";
import { type AccountNames, nameIn } from "../look/names.ts";
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

export interface Names extends AccountNames {
  readonly keys: ReadonlyArray<KeyDetails>;
  readonly me: { readonly chatId: string; readonly name: string };
  readonly webhooks: ReadonlyMap<string, string>;
}

const sentenceOf = (entry: AuditEntry, names: Names): string =>
  start(sentences[entry.action](partsOf(entry, names)));

/** What the sentence about an entry may say: who acted, and the names of what the details of the entry name. */
const partsOf = ({ actor, details, pid }: AuditEntry, names: Names) => ({
  actor,
  details,
  pid,
  who: whoOf(actor, names),
  isBySelf: actor.type === "user" && actor.id === details["chatId"],
  chat: (detail = "chatId") => chatOf(details[detail], names),
  game: (detail = "gameId") => gameOf(details[detail], names),
  key: () => theKey(details["keyId"], names),
  // The audit log does not contain the URL of a webhook, so a deleted webhook has no name.
  webhook: () => {
    const name = names.webhooks.get(String(details["webhookId"]));
    return name === undefined ? "a webhook" : `the webhook ${name}`;
  },
  instead: () => {
    const { previousGameId = null } = details;
    return previousGameId === null ? "" : `, in place of ${gameOf(previousGameId, names)}`;
  },
  text: (detail: string) => String(details[detail]),
  count: (detail: string) => numberText(Number(details[detail])),
});

type Sentence = (parts: ReturnType<typeof partsOf>) => string;

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

const chatOf = (id: unknown, { chats }: Names): string => nameIn(chats, String(id), `user ${String(id)}`);

const personOf = (id: string, names: Names): string =>
  id === names.me.chatId ? names.me.name : (names.chats.get(id) ?? `user ${id}`);

const gameOf = (id: unknown, { games }: Names): string => nameIn(games, String(id), `account ${String(id)}`);

const start = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const ofKey =
  (verb: string): Sentence =>
  ({ who, key }) =>
    `${who} ${verb} ${key()}`;

const ofWebhook =
  (verb: string): Sentence =>
  ({ who, webhook }) =>
    `${who} ${verb} ${webhook()}`;

const statusVerbs: Readonly<Record<string, string>> = {
  active: "enabled",
  disabled: "disabled",
  revoked: "revoked",
};

const sentences: Record<AuditAction, Sentence> = {
  "link.set": ({ who, isBySelf, chat, game, instead, details }) =>
    isBySelf
      ? `${chat()} verified as ${game()}${instead()}`
      : `${who} linked ${chat()} to ${game()}${instead()}${details["via"] === "import" ? ", by an import" : ""}`,
  "link.moved": ({ who, chat, game }) => `${who} moved ${game()} from ${chat()} to ${chat("newChatId")}`,
  "link.removed": ({ who, isBySelf, chat, game }) =>
    isBySelf
      ? `${chat()} removed their link to ${game("removedGameId")}`
      : `${who} unlinked ${chat()} from ${game("removedGameId")}`,
  "links.imported": ({ who, count }) =>
    `${who} imported links: ${count("inserted")} new, ${count("replaced")} replaced, ${count("kept")} left as they were`,
  "scope.deleted": ({ who, details }) =>
    `${who} deleted all links of the community: ${counted(Number(details["deletedRecords"]), "record")}`,
  "review.set": ({ who, chat, details }) =>
    `${who} noted that ${chat()} and ${chat("otherChatId")} are ${details["verdict"] === "same" ? "one person" : "two people"}`,
  "review.deleted": ({ who, chat }) => `${who} took back the note on ${chat()} and ${chat("otherChatId")}`,
  "key.created": ofKey("created"),
  "key.updated": ofKey("changed the rules of"),
  "key.rotated": ofKey("rotated"),
  "key.status_changed": (parts) => ofKey(statusVerbs[parts.text("status")] ?? "changed")(parts),
  "key.reported": ({ key }) => `${key()} was reported as leaked, and revoked`,
  "account.updated": ({ who, details, pid }) =>
    pid === null
      ? `${who} changed the account: ${Object.entries(details)
          .map(([name, value]) => `${name} ${String(value)}`)
          .join(", ")}`
      : `${who} changed what users read`,
  "user.erased": () => "A user was erased",
  "webhook.created": ofWebhook("created"),
  "webhook.updated": ofWebhook("changed"),
  "webhook.deleted": ofWebhook("deleted"),
  "webhook.rotated": ofWebhook("rotated the secret of"),
  "webhook.disabled": ({ webhook }) => `${webhook()} was disabled, because its server refuses the events`,
  "member.added": ({ who, actor, chat, text }) =>
    `${who} ${actor.type === "operator" ? "added" : "invited"} ${chat()} to the team: ${text("role")}`,
  "member.accepted": ({ who, text }) => `${who} joined the team: ${text("role")}`,
  "member.declined": ({ who }) => `${who} declined the invitation to the team`,
  "member.role_changed": ({ who, chat, text }) =>
    `${who} changed the role of ${chat()} from ${text("previousRole")} to ${text("role")}`,
  "member.removed": ({ who, actor, chat, details }) =>
    details["chatId"] === (actor.type === "account" ? actor.member : null)
      ? `${who} left the team`
      : `${who} removed ${chat()} from the team`,
  "roles.updated": ({ who, details }) =>
    `${who} ${details["changed"] === "state" && details["state"] === "paused" ? "paused" : "changed"} the roles of a community`,
  "roles.deleted": ({ who }) => `${who} deleted the roles of a community`,
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
