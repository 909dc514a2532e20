/** The history of an account in words: a sentence about each entry of the audit log. */
import { type Actor, type AuditAction, type AuditEntry, previousOf } from "@accountlink/core/audit";
import { communitySettingNames } from "@accountlink/core/communities";
import { type KeyDetails, noSettings } from "@accountlink/core/keys";
import { Struct } from "effect";
import { type Html, html } from "../../html.ts";
import { type AccountNames, nameIn } from "../look/names.ts";
import { capitalised, type DashboardKey, inLanguage, listOf, say, separated } from "../look/say.ts";
import { numberHtml, timeHtml } from "../look/time.ts";

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
            entry.requestId !== null && html` · <code>${entry.requestId}</code>`
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
  const sentence = capitalised(isPlain(action) ? say(`audit.${action}`, parts) : sentences[action](parts));
  return typeof reason === "string" && reasoned.has(entry.action)
    ? say("audit.because", { sentence, reason })
    : sentence;
};

/** The actions for which a member can give a reason. */
const reasoned: ReadonlySet<AuditAction> = new Set(["link.set", "link.removed"]);

type Details = AuditEntry["details"];

/** What the team calls a role; the role itself if a later release has given it. */
const roleWord = (role: Details[string] | undefined): Html => {
  const key = `team.role.${String(role)}`;
  return inLanguage(({ has, say: inWords }) => (has(key) ? inWords(key) : html`${String(role)}`));
};

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
const partsOf = ({ actor, details, pid }: AuditEntry, names: Names) => {
  const { chatId, guildId, previousGameId = null } = details;
  const webhook = names.webhooks.get(String(details["webhookId"]));
  return {
    actor,
    details,
    pid,
    isBySelf: actor.type === "user" && actor.id === chatId,
    who: whoOf(actor, names),
    chat: chatOf(chatId, names),
    newChat: chatOf(details["newChatId"], names),
    other: chatOf(details["otherChatId"], names),
    game: gameOf(details["gameId"] ?? details["removedGameId"], names),
    replaced: previousGameId === null ? "no" : "yes",
    previous: previousGameId === null ? "" : gameOf(previousGameId, names),
    user: chatId === undefined ? gameOf(details["gameId"], names) : chatOf(chatId, names),
    key: theKey(details["keyId"], names),
    // The audit log does not contain the URL of a webhook, so a deleted webhook has no name.
    webhook: webhook === undefined ? say("audit.a_webhook") : say("audit.the_webhook", { name: webhook }),
    community: names.guilds.get(String(guildId)) ?? say("audit.community", { id: String(guildId) }),
    channel: channelName(details["channelId"] ?? "", names),
    list: pid === null ? say("audit.the_account") : (names.lists.get(pid) ?? say("audit.deleted_list")),
    role: roleWord(details["role"]),
    roleNow: roleIn(roleWord(details["role"]), details["scopes"], names),
    count: Number(details["count"]),
    file: String(details["file"]),
    changesOf: (settings: Parameters<typeof changesOf>[1]) => changesOf(details, settings, names),
    rolesIn: (detail: string) => rolesIn(details[detail] ?? "", names),
    counted: (detail: string) => numberHtml(Number(details[detail])),
  };
};

type SettingName =
  Extract<DashboardKey, `audit.setting.${string}`> extends `audit.setting.${infer Name}` ? Name : never;

/** The settings of a role plan and of its community that sentences tell. Earlier releases had one `bypassRoleId`. */
const planSettings = [
  "nickname",
  "nicknameGroupId",
  "bypassRoleId",
  "bypassRoleIds",
  "nicknameBypassRoleIds",
  "unlinked",
  ...communitySettingNames,
] as const;

const keySettings = ["name", "access", "expiresAt"] as const;

const changesOf = (
  details: Details,
  settings: ReadonlyArray<SettingName | "name" | "unlinked">,
  names: Names,
): ReadonlyArray<Html> =>
  settings.flatMap((name) => {
    const value = details[name];
    if (value === undefined) return [];
    if (name === "unlinked") return say(value === "keep" ? "audit.unlinked.keep" : "audit.unlinked.remove");
    return say("audit.change", {
      label: say(`audit.setting.${name === "name" ? "displayName" : name}`),
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
  separated(
    String(ids)
      .split(", ")
      .filter((id) => id !== "")
      .map((id) => names.roles.get(id) ?? say("audit.role", { id })),
    ", ",
  );

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

const joined = (parts: ReadonlyArray<Html>): Html =>
  parts.length === 0 ? html`` : parts.reduceRight((rest, first) => say("audit.two", { first, rest }));

type KeySentence = `audit.key.${"enabled" | "disabled" | "revoked" | "changed"}`;

const statuses: Readonly<Record<string, KeySentence>> = {
  active: "audit.key.enabled",
  disabled: "audit.key.disabled",
  revoked: "audit.key.revoked",
};

/** The sentences of actions that have several messages, or values of their own. */
const sentences = {
  "link.set": (parts) =>
    say(parts.isBySelf ? "audit.link.verified" : "audit.link.linked", {
      ...parts,
      proof: String(parts.details["proof"] ?? ""),
      via: String(parts.details["via"] ?? ""),
    }),
  "link.removed": (parts) => say(parts.isBySelf ? "audit.link.removed_own" : "audit.link.removed", parts),
  "links.imported": ({ counted, ...parts }) =>
    say(parts.details["file"] === undefined ? "audit.links.imported" : "audit.links.imported_file", {
      ...parts,
      inserted: counted("inserted"),
      replaced: counted("replaced"),
      kept: counted("kept"),
    }),
  "links.import_undone": ({ counted, ...parts }) =>
    say("audit.links.undone", { ...parts, removed: counted("removed"), restored: counted("restored") }),
  "scope.deleted": ({ who, details }) =>
    say("audit.scope.deleted", { who, count: Number(details["deletedRecords"]) }),
  "review.set": (parts) =>
    say(parts.details["verdict"] === "same" ? "audit.review.same" : "audit.review.different", parts),
  "key.updated": ({ changesOf: changesIn, ...parts }) => {
    const others = namesOfFields(parts.details, keySettings).map((name) => html`${name}`);
    return say("audit.key.updated", { ...parts, changes: joined([...changesIn(keySettings), ...others]) });
  },
  "key.status_changed": (parts) =>
    say(statuses[String(parts.details["status"])] ?? "audit.key.changed", parts),
  "account.updated": ({ who, details, pid, list, changesOf: changesIn }) =>
    pid === null
      ? say("audit.account.updated", {
          who,
          what: String(details["name"] ? "name" : (details["tier"] ?? details["status"])),
          to: String(details["name"]),
        })
      : say("audit.settings.updated", { who, list, changes: joined(changesIn(Struct.keys(noSettings))) }),
  "webhook.updated": (parts) =>
    say("audit.webhook.updated", { ...parts, fields: namesOfFields(parts.details).join(", ") }),
  "member.added": ({ actor, roleNow: role, ...parts }) =>
    say(actor.type === "operator" ? "audit.member.added" : "audit.member.invited", { ...parts, role }),
  "member.role_changed": ({ details, roleNow, ...parts }) =>
    details["role"] === details["previousRole"]
      ? say("audit.member.scopes_changed", { ...parts, role: roleNow })
      : say("audit.member.role_changed", {
          ...parts,
          before: roleWord(details["previousRole"]),
          after: roleNow,
        }),
  "member.removed": ({ actor, ...parts }) =>
    say(
      parts.details["chatId"] === (actor.type === "account" ? actor.member : null)
        ? "audit.member.left"
        : "audit.member.removed",
      parts,
    ),
  "roles.updated": ({ details, rolesIn: rolesOf, changesOf: changesIn, ...parts }) => {
    const fields = namesOfFields(details);
    const state = details["state"] === "paused" ? "paused" : "on";
    if (fields.length === 1 && fields[0] === "state") return say(`audit.roles.${state}`, parts);
    const ofRules = Object.entries(ruleLabels).flatMap(([name, key]) =>
      details[name] === undefined ? [] : [say(key, { roles: rolesOf(name) })],
    );
    const told = [
      ...ofRules,
      ...changesIn(planSettings),
      ...(fields.includes("state") ? [say(`audit.roles.state.${state}`)] : []),
    ];
    return told.length === 0
      ? say("audit.roles.updated", parts)
      : say("audit.roles.updated_to", { ...parts, changes: joined(told) });
  },
  "panel.posted": (parts) =>
    say(parts.details["previousText"] === undefined ? "audit.panel.posted" : "audit.panel.changed", parts),
} satisfies Partial<Record<AuditAction, (parts: Parts) => Html>>;

const ruleLabels = {
  rolesAdded: "audit.rules.added",
  rolesRemoved: "audit.rules.removed",
  rolesChanged: "audit.rules.changed",
} as const;

const isPlain = (action: AuditAction): action is Exclude<AuditAction, keyof typeof sentences> =>
  !Object.hasOwn(sentences, action);

/** The names of the changed fields in the details, except those that the sentence tells with their values. */
const namesOfFields = (details: Details, told: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  String(details["changed"] ?? "")
    .split(", ")
    .filter((name) => name !== "" && !told.includes(name));

export const actionName = (action: AuditAction): Html => say(`audit.action.${action}`);
