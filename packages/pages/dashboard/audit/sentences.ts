/** The history of an account in words: a sentence about each entry of the audit log. */
import { type Actor, type AuditAction, type AuditEntry, previousOf } from "@accountlink/core/audit";
import type { CommunitySettings } from "@accountlink/core/communities";
import type { KeyDetails } from "@accountlink/core/keys";
import { type GameProof, gameProofs } from "@accountlink/core/links";
import { type Html, html } from "../../html.ts";
import { type AccountNames, nameIn } from "../look/names.ts";
import { nameOf } from "../look/owned_key.ts";
import { counted, numberText, timeHtml, timeText } from "../look/time.ts";

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
          html`<li><span>${sentenceOf(entry, names)}</span> <small>${timeHtml(entry.at)}${
            entry.requestId === null ? null : html` · <code>${entry.requestId}</code>`
          }</small></li>`,
      )}</ul>`;

export interface Names extends AccountNames {
  /** Names of communities, and of their roles and channels, by ID. Unknown ones are left out. */
  readonly guilds: ReadonlyMap<string, string>;
  readonly roles: ReadonlyMap<string, string>;
  readonly channels: ReadonlyMap<string, string>;
  /** Names of the account's lists by pid. */
  readonly lists: ReadonlyMap<string, string>;
  readonly keys: ReadonlyArray<KeyDetails>;
  readonly me: { readonly chatId: string; readonly name: string };
  readonly webhooks: ReadonlyMap<string, string>;
}

const sentenceOf = (entry: AuditEntry, names: Names): string => {
  const { reason } = entry.details;
  const why = typeof reason === "string" && reasoned.has(entry.action) ? ` – “${reason}”` : "";
  return start(sentences[entry.action](partsOf(entry, names))) + why;
};

/** The actions for which a member can give a reason. */
const reasoned: ReadonlySet<AuditAction> = new Set(["link.set", "link.removed"]);

/** Of which communities somebody becomes a member; empty if the entry does not say. */
const scopesOf = (scopes: AuditEntry["details"][string] | undefined, { lists }: Names): string => {
  if (scopes === undefined) return "";
  if (scopes === null) return " of all communities";
  const known = String(scopes)
    .split(", ")
    .map((pid) => lists.get(pid) ?? "a community");
  return ` of ${known.join(", ")} alone`;
};

/** What the sentence about an entry may say: who acted, and the names of what the details of the entry name. */
const partsOf = ({ actor, details, pid }: AuditEntry, names: Names) => ({
  actor,
  details,
  pid,
  who: whoOf(actor, names),
  isBySelf: actor.type === "user" && actor.id === details["chatId"],
  scopes: () => scopesOf(details["scopes"], names),
  chat: (detail = "chatId") => chatOf(details[detail], names),
  game: (detail = "gameId") => gameOf(details[detail], names),
  key: () => theKey(details["keyId"], names),
  // The audit log does not contain the URL of a webhook, so a deleted webhook has no name.
  webhook: () => {
    const name = names.webhooks.get(String(details["webhookId"]));
    return name === undefined ? "a webhook" : `the webhook ${name}`;
  },
  blocked: () =>
    details["chatId"] === undefined ? gameOf(details["gameId"], names) : chatOf(details["chatId"], names),
  instead: () => {
    const { previousGameId = null } = details;
    return previousGameId === null ? "" : `, in place of ${gameOf(previousGameId, names)}`;
  },
  community: () =>
    names.guilds.get(String(details["guildId"])) ?? `the community ${String(details["guildId"])}`,
  list: () => (pid === null ? "the account" : (names.lists.get(pid) ?? "a deleted list")),
  changes: (labels: Readonly<Record<string, string>>) => changesOf(details, labels, names),
  roles: (detail: string) => rolesIn(details[detail] ?? "", names),
  text: (detail: string) => String(details[detail]),
  count: (detail: string) => numberText(Number(details[detail])),
});

/** Says of each setting in the details from what to what it changed. */
const changesOf = (
  details: AuditEntry["details"],
  labels: Readonly<Record<string, string>>,
  names: Names,
): ReadonlyArray<string> =>
  Object.entries(labels).flatMap(([name, label]) => {
    const value = details[name];
    if (value === undefined) return [];
    const previous = details[previousOf(name)] ?? null;
    return [`${label} from ${valueText(previous, name, names)} to ${valueText(value, name, names)}`];
  });

const valueText = (value: string | number | null, name: string, names: Names): string => {
  if (value === null || value === "") return "none";
  switch (name) {
    case "expiresAt":
      return timeText(Number(value));
    case "bypassRoleId":
    case "bypassRoleIds":
    case "nicknameBypassRoleIds":
      return rolesIn(value, names);
    case "logChannelId":
      return `#${names.channels.get(String(value)) ?? value}`;
    default:
      return `“${value}”`;
  }
};

const rolesIn = (ids: string | number, names: Names): string =>
  String(ids)
    .split(", ")
    .filter((id) => id !== "")
    .map((id) => roleOf(id, names))
    .join(", ");

const roleOf = (id: string, names: Names): string => names.roles.get(id) ?? `role ${id}`;

type Sentence = (parts: ReturnType<typeof partsOf>) => string;

/** How a link was set that is one of many. */
const waysOfMany: Readonly<Record<string, string>> = {
  import: ", by an import",
  undo: ", by the undo of an import",
};

export const whoOf = (actor: Actor, names: Names): string => {
  const { id } = actor;
  switch (actor.type) {
    case "key":
      return keyOf(id, names);
    case "account":
      return personOf(actor.member, names);
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

const ways: Readonly<Record<GameProof, string>> = {
  connection: "by a connected account",
  oauth: "by signing in",
  words: "by words",
  session: "by the game",
  known: "by an earlier proof",
};

const byProof = (proof: AuditEntry["details"][string] | undefined): string =>
  gameProofs.some((known) => known === proof) ? `, ${ways[proof as GameProof]}` : "";

const sentences: Record<AuditAction, Sentence> = {
  "link.set": ({ who, isBySelf, chat, game, instead, details }) =>
    isBySelf
      ? `${chat()} verified as ${game()}${instead()}${byProof(details["proof"])}`
      : `${who} linked ${chat()} to ${game()}${instead()}${waysOfMany[String(details["via"])] ?? ""}`,
  "link.moved": ({ who, chat, game }) => `${who} moved ${game()} from ${chat()} to ${chat("newChatId")}`,
  "link.removed": ({ who, isBySelf, chat, game }) =>
    isBySelf
      ? `${chat()} removed their link to ${game("removedGameId")}`
      : `${who} unlinked ${chat()} from ${game("removedGameId")}`,
  "links.imported": ({ who, count, list, details }) =>
    `${who} imported links${details["file"] === undefined ? "" : ` of “${String(details["file"])}” into ${list()}`}: ${count("inserted")} new, ${count("replaced")} replaced, ${count("kept")} left as they were`,
  "links.import_undone": ({ who, count, list, details }) =>
    `${who} undid the import of “${String(details["file"])}” into ${list()}: ${count("removed")} removed, ${count("restored")} as before`,
  "scope.deleted": ({ who, details }) =>
    `${who} deleted all links of the community: ${counted(Number(details["deletedRecords"]), "record")}`,
  "review.set": ({ who, chat, details }) =>
    `${who} noted that ${chat()} and ${chat("otherChatId")} are ${details["verdict"] === "same" ? "one person" : "two people"}`,
  "review.deleted": ({ who, chat }) => `${who} took back the note on ${chat()} and ${chat("otherChatId")}`,
  "block.set": ({ who, blocked }) => `${who} blocked ${blocked()}`,
  "block.removed": ({ who, blocked }) => `${who} no longer blocks ${blocked()}`,
  "key.created": ofKey("created"),
  "key.updated": ({ who, key, changes, details }) => {
    const told = changes(keyLabels);
    const others = namesOfFields(details, Object.keys(keyLabels));
    return `${who} changed ${key()}: ${[...told, ...others].join("; ")}`;
  },
  "key.rotated": ofKey("rotated"),
  "key.status_changed": (parts) => ofKey(statusVerbs[parts.text("status")] ?? "changed")(parts),
  "key.reported": ({ key }) => `${key()} was reported as leaked, and revoked`,
  "account.updated": ({ who, details, pid, list, changes }) =>
    pid === null
      ? `${who} changed the account: ${Object.entries(details)
          .map(([name, value]) => `${name} ${String(value)}`)
          .join(", ")}`
      : `${who} changed the settings of ${list()}: ${changes(settingLabels).join("; ")}`,
  "user.erased": () => "A user was erased",
  "webhook.created": ofWebhook("created"),
  "webhook.updated": ({ who, webhook, details }) =>
    `${who} changed ${webhook()}: ${namesOfFields(details).join(", ")}`,
  "webhook.deleted": ofWebhook("deleted"),
  "webhook.rotated": ofWebhook("rotated the secret of"),
  "webhook.disabled": ({ webhook }) => `${webhook()} was disabled, because its server refuses the events`,
  "member.added": ({ who, actor, chat, text, scopes }) =>
    `${who} ${actor.type === "operator" ? "added" : "invited"} ${chat()} to the team: ${text("role")}${scopes()}`,
  "member.accepted": ({ who, text }) => `${who} joined the team: ${text("role")}`,
  "member.declined": ({ who }) => `${who} declined the invitation to the team`,
  "member.role_changed": ({ who, chat, text, details, scopes }) =>
    details["role"] === details["previousRole"]
      ? `${who} let ${chat()} be ${text("role")}${scopes()}`
      : `${who} changed the role of ${chat()} from ${text("previousRole")} to ${text("role")}${scopes()}`,
  "member.removed": ({ who, actor, chat, details }) =>
    details["chatId"] === (actor.type === "account" ? actor.member : null)
      ? `${who} left the team`
      : `${who} removed ${chat()} from the team`,
  "roles.updated": ({ who, details, community, roles, changes }) => {
    const fields = namesOfFields(details);
    const state = details["state"] === "paused" ? "paused" : "turned on";
    if (fields.length === 1 && fields[0] === "state") return `${who} ${state} the roles of ${community()}`;
    const ofRules = Object.entries(ruleLabels).flatMap(([name, label]) =>
      details[name] === undefined ? [] : [`${label} ${roles(name)}`],
    );
    const told = [...ofRules, ...changes(planLabels), ...(fields.includes("state") ? [state] : [])];
    return `${who} changed the roles of ${community()}${told.length === 0 ? "" : `: ${told.join("; ")}`}`;
  },
  "roles.deleted": ({ who, community }) => `${who} deleted the roles of ${community()}`,
};

/** The labels of settings in the sentence about their change. */
const settingLabels = {
  displayName: "name",
  supportUrl: "help page",
  doneText: "message at the end",
  minGameAgeDays: "days that a game account must exist",
  minChatAgeDays: "days that a chat account must exist",
  freshProof: "proof of its own",
};
const keyLabels = { name: "name", access: "permissions", expiresAt: "end" };
const communityLabels: Readonly<Record<keyof CommunitySettings, string>> = { logChannelId: "log channel" };
const planLabels = {
  nickname: "nickname",
  nicknameGroupId: "group of the nickname",
  // Of entries of releases with one such role.
  bypassRoleId: "role that leaves members as they are",
  bypassRoleIds: "roles that leave members as they are",
  nicknameBypassRoleIds: "roles that leave nicknames as they are",
  unlinked: "members without a link",
  ...communityLabels,
};
const ruleLabels = {
  rolesAdded: "gives now",
  rolesRemoved: "no longer gives",
  rolesChanged: "other rules for",
};

/** The names of the changed fields in the details, except those that the sentence tells with their values. */
const namesOfFields = (
  details: AuditEntry["details"],
  told: ReadonlyArray<string> = [],
): ReadonlyArray<string> =>
  String(details["changed"] ?? "")
    .split(", ")
    .filter((name) => name !== "" && !told.includes(name));

export const actions: Record<AuditAction, string> = {
  "link.set": "Link set",
  "link.moved": "Link moved to another user",
  "link.removed": "Link removed",
  "links.imported": "Links imported",
  "links.import_undone": "Import undone",
  "scope.deleted": "All links deleted",
  "review.set": "Review written",
  "review.deleted": "Review deleted",
  "block.set": "User blocked",
  "block.removed": "User no longer blocked",
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
