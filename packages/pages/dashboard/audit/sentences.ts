/** The history of an account in words: a sentence about each entry of the audit log. */
import { type Actor, type AuditAction, type AuditEntry, previousOf } from "@accountlink/core/audit";
import type { KeyDetails } from "@accountlink/core/keys";
import { type Html, html } from "../../html.ts";
import { type AccountNames, nameIn } from "../look/names.ts";
import { capitalised, type DashboardKey, inLanguage, listOf, say } from "../look/say.ts";
import { numberHtml, timeHtml } from "../look/time.ts";
import { keyLabels, planLabels, ruleLabels, settingLabels } from "./change_labels.ts";

/**
 * @param entries newest first
 * @param nothing what the page says if there are no entries
 */
export const historyHtml = (
  entries: ReadonlyArray<AuditEntry>,
  names: Names,
  nothing: Html = say("audit.nothing_yet"),
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
  readonly lists: ReadonlyMap<string, Html>;
  readonly keys: ReadonlyArray<KeyDetails>;
  readonly me: { readonly chatId: string; readonly name: string };
  readonly webhooks: ReadonlyMap<string, string>;
}

const sentenceOf = (entry: AuditEntry, names: Names): Html => {
  const { reason } = entry.details;
  const { action } = entry;
  const parts = partsOf(entry, names);
  const sentence = capitalised(
    isPlain(action) ? say(`audit.${action}`, valuesOf(parts)) : sentences[action](parts),
  );
  return typeof reason === "string" && reasoned.has(entry.action)
    ? say("audit.because", { sentence, reason })
    : sentence;
};

/** The actions for which a member can give a reason. */
const reasoned: ReadonlySet<AuditAction> = new Set(["link.set", "link.removed"]);

type Details = AuditEntry["details"];

const roleWord = (role: Details[string] | undefined): Html =>
  wordOr(`team.role.${String(role)}`, String(role));

/** A role, and of which communities if the entry says that. */
const roleIn = (role: Html, scopes: Details[string] | undefined, { lists }: Names): Html => {
  if (scopes === undefined) return role;
  if (scopes === null) return say("audit.role_all", { role });
  const known = String(scopes)
    .split(", ")
    .map((pid) => lists.get(pid) ?? say("audit.a_community"));
  return say("audit.role_some", { role, lists: listOf(known) });
};

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
    return name === undefined ? say("audit.a_webhook") : say("audit.the_webhook", { name });
  },
  blocked: () =>
    details["chatId"] === undefined ? gameOf(details["gameId"], names) : chatOf(details["chatId"], names),
  instead: () => {
    const { previousGameId = null } = details;
    return previousGameId === null
      ? { replaced: "no", previous: "" }
      : { replaced: "yes", previous: gameOf(previousGameId, names) };
  },
  community: () => {
    const id = String(details["guildId"]);
    return names.guilds.get(id) ?? say("audit.community", { id });
  },
  channel: () => channelName(details["channelId"] ?? "", names),
  list: () => (pid === null ? say("audit.the_account") : (names.lists.get(pid) ?? say("audit.deleted_list"))),
  changes: (labels: Readonly<Record<string, DashboardKey>>) => changesOf(details, labels, names),
  roles: (detail: string) => rolesIn(details[detail] ?? "", names),
  role: (detail: string) => roleWord(details[detail]),
  roleNow: () => roleIn(roleWord(details["role"]), details["scopes"], names),
  count: (detail: string) => numberHtml(Number(details[detail])),
});

/** A message if there is one of this name, or else a text that has no translation, such as the name of a field. */
const wordOr = (key: string, text: string): Html =>
  inLanguage(({ has, say: inWords }) => (has(key) ? inWords(key) : html`${text}`));

/** Says of each setting in the details from what to what it changed. */
const changesOf = (
  details: Details,
  labels: Readonly<Record<string, DashboardKey>>,
  names: Names,
): ReadonlyArray<Html> =>
  Object.entries(labels).flatMap(([name, key]) => {
    const value = details[name];
    if (value === undefined) return [];
    return say("audit.change", {
      label: wordOr(key, name),
      before: valueHtml(details[previousOf(name)] ?? null, name, names),
      after: valueHtml(value, name, names),
    });
  });

const valueHtml = (value: string | number | null, name: string, names: Names): string | Html => {
  if (value === null || value === "") return say("audit.no_value");
  switch (name) {
    case "expiresAt":
      return timeHtml(Number(value));
    case "bypassRoleId":
    case "bypassRoleIds":
    case "nicknameBypassRoleIds":
      return rolesIn(value, names);
    case "logChannelId":
      return channelName(value, names);
    default:
      return say("audit.value", { value: String(value) });
  }
};

const channelName = (id: string | number, { channels }: Names): string =>
  `#${channels.get(String(id)) ?? id}`;

const rolesIn = (ids: string | number, names: Names): Html =>
  html`${String(ids)
    .split(", ")
    .filter((id) => id !== "")
    .map((id, index) => html`${index === 0 ? "" : ", "}${roleOf(id, names)}`)}`;

const roleOf = (id: string, names: Names): string | Html => names.roles.get(id) ?? say("audit.role", { id });

type Parts = ReturnType<typeof partsOf>;

export const whoOf = (actor: Actor, names: Names): string | Html => {
  const { id } = actor;
  switch (actor.type) {
    case "key":
      return keyName(id, names) ?? capitalised(say("audit.key", { id }));
    case "account":
      return personOf(actor.member, names);
    case "operator":
      return say("audit.operator");
    case "user":
      return chatOf(id, names);
  }
};

/** The name of a key; null without one. */
const keyName = (id: unknown, { keys }: Names): string | null => {
  const { name = "" } = keys.find((known) => known.id === id) ?? {};
  return name === "" ? null : name;
};

const theKey = (id: unknown, names: Names): Html => {
  const name = keyName(id, names);
  return name === null ? say("audit.key", { id: String(id) }) : say("audit.the_key", { name });
};

const chatOf = (id: unknown, { chats }: Names): string | Html =>
  chats.has(String(id)) ? nameIn(chats, String(id)) : say("audit.user", { id: String(id) });

const personOf = (id: string, names: Names): string | Html =>
  id === names.me.chatId ? names.me.name : (names.chats.get(id) ?? say("audit.user", { id }));

const gameOf = (id: unknown, { games }: Names): string | Html =>
  games.has(String(id)) ? nameIn(games, String(id)) : say("audit.account", { id: String(id) });

/** Joins parts of a sentence. */
const joined = (parts: ReadonlyArray<Html>): Html =>
  parts.length === 0 ? html`` : parts.reduceRight((rest, first) => say("audit.two", { first, rest }));

type KeySentence = `audit.key.${"enabled" | "disabled" | "revoked" | "changed"}`;

/** The values of actions whose message says everything. */
const valuesOf = ({ who, chat, game, key, webhook, blocked, community, role, details }: Parts) => ({
  who,
  chat: chat(),
  newChat: chat("newChatId"),
  other: chat("otherChatId"),
  game: game(),
  key: key(),
  webhook: webhook(),
  user: blocked(),
  community: community(),
  role: role("role"),
  count: Number(details["count"]),
});

const statuses: Readonly<Record<string, KeySentence>> = {
  active: "audit.key.enabled",
  disabled: "audit.key.disabled",
  revoked: "audit.key.revoked",
};

/** The sentences of actions that have several messages, or values of their own. */
const sentences = {
  "link.set": ({ who, isBySelf, chat, game, instead, details }) =>
    isBySelf
      ? say("audit.link.verified", {
          chat: chat(),
          game: game(),
          ...instead(),
          proof: String(details["proof"] ?? ""),
        })
      : say("audit.link.linked", {
          who,
          chat: chat(),
          game: game(),
          ...instead(),
          via: String(details["via"] ?? ""),
        }),
  "link.removed": ({ who, isBySelf, chat, game }) =>
    isBySelf
      ? say("audit.link.removed_own", { chat: chat(), game: game("removedGameId") })
      : say("audit.link.removed", { who, chat: chat(), game: game("removedGameId") }),
  "links.imported": ({ who, count, list, details }) => {
    const counts = { inserted: count("inserted"), replaced: count("replaced"), kept: count("kept") };
    return details["file"] === undefined
      ? say("audit.links.imported", { who, ...counts })
      : say("audit.links.imported_file", { who, file: String(details["file"]), list: list(), ...counts });
  },
  "links.import_undone": ({ who, count, list, details }) =>
    say("audit.links.undone", {
      who,
      file: String(details["file"]),
      list: list(),
      removed: count("removed"),
      restored: count("restored"),
    }),
  "scope.deleted": ({ who, details }) =>
    say("audit.scope.deleted", { who, count: Number(details["deletedRecords"]) }),
  "review.set": ({ who, chat, details }) =>
    say(details["verdict"] === "same" ? "audit.review.same" : "audit.review.different", {
      who,
      chat: chat(),
      other: chat("otherChatId"),
    }),
  "key.updated": ({ who, key, changes, details }) => {
    const told = changes(keyLabels);
    const others = namesOfFields(details, Object.keys(keyLabels)).map((name) => html`${name}`);
    return say("audit.key.updated", { who, key: key(), changes: joined([...told, ...others]) });
  },
  "key.status_changed": ({ who, key, details }) =>
    say(statuses[String(details["status"])] ?? "audit.key.changed", { who, key: key() }),
  "account.updated": ({ who, details, pid, list, changes }) =>
    pid === null
      ? say("audit.account.updated", {
          who,
          what: String(details["name"] === undefined ? (details["tier"] ?? details["status"]) : "name"),
          to: String(details["name"]),
        })
      : say("audit.settings.updated", { who, list: list(), changes: joined(changes(settingLabels)) }),
  "webhook.updated": ({ who, webhook, details }) =>
    say("audit.webhook.updated", { who, webhook: webhook(), fields: namesOfFields(details).join(", ") }),
  "member.added": ({ who, actor, chat, roleNow }) =>
    say(actor.type === "operator" ? "audit.member.added" : "audit.member.invited", {
      who,
      chat: chat(),
      role: roleNow(),
    }),
  "member.role_changed": ({ who, chat, role, roleNow, details }) =>
    details["role"] === details["previousRole"]
      ? say("audit.member.scopes_changed", { who, chat: chat(), role: roleNow() })
      : say("audit.member.role_changed", {
          who,
          chat: chat(),
          before: role("previousRole"),
          after: roleNow(),
        }),
  "member.removed": ({ who, actor, chat, details }) =>
    details["chatId"] === (actor.type === "account" ? actor.member : null)
      ? say("audit.member.left", { who })
      : say("audit.member.removed", { who, chat: chat() }),
  "roles.updated": ({ who, details, community, roles, changes }) => {
    const fields = namesOfFields(details);
    const state = details["state"] === "paused" ? "paused" : "on";
    const here = { who, community: community() };
    if (fields.length === 1 && fields[0] === "state") return say(`audit.roles.${state}`, here);
    const ofRules = Object.entries(ruleLabels).flatMap(([name, key]) =>
      details[name] === undefined ? [] : [say(key, { roles: roles(name) })],
    );
    const told = [
      ...ofRules,
      ...changes(planLabels),
      ...(fields.includes("state") ? [say(`audit.roles.state.${state}`)] : []),
    ];
    return told.length === 0
      ? say("audit.roles.updated", here)
      : say("audit.roles.updated_to", { ...here, changes: joined(told) });
  },
  "panel.posted": ({ who, community, channel, details }) =>
    say(details["previousText"] === undefined ? "audit.panel.posted" : "audit.panel.changed", {
      who,
      community: community(),
      channel: channel(),
    }),
} satisfies Partial<Record<AuditAction, (parts: Parts) => Html>>;

const isPlain = (action: AuditAction): action is Exclude<AuditAction, keyof typeof sentences> =>
  !Object.hasOwn(sentences, action);

/** The names of the changed fields in the details, except those that the sentence tells with their values. */
const namesOfFields = (details: Details, told: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  String(details["changed"] ?? "")
    .split(", ")
    .filter((name) => name !== "" && !told.includes(name));

/** The name of a kind of entries. */
export const actionName = (action: AuditAction): Html => say(`audit.action.${action}`);
