import { allows, type MemberRole } from "@accountlink/core/accounts";
import type { KeyDetails } from "@accountlink/core/keys";
import type { OwnGuild } from "@accountlink/core/platforms";
import { dayMs } from "@accountlink/core/timestamp";
import { Record } from "effect";
import { counted } from "../../english_counts.ts";
import { type Html, html, inPlace } from "../../html.ts";
import { entriesOf, type SentForm } from "../form_values.ts";
import { fieldsOf, linesField, menuField, radioField, textField } from "../look/field.ts";
import { sharedListHint } from "../look/names.ts";
import { accesses } from "../look/owned_key.ts";
import { dayOf } from "../look/time.ts";

export const keyLabels = {
  name: "Name",
  scope: "List of links",
  guildId: "Community",
  access: "Permissions",
  allowIps: "Allowed addresses",
  denyIps: "Denied addresses",
  redirectOrigins: "Sites to continue to",
  expiresAt: "Expires after",
} as const;

/**
 * A key as typed. `allowIps`, `denyIps` and `redirectOrigins` have one entry per line. `expiresAt` is the last UTC day on
 * which the key is accepted; empty for no expiry.
 */
export type NewKeyForm = Readonly<Record<keyof typeof keyLabels, string>>;

export interface KeyRules extends SentForm, Omit<NewKeyForm, "scope" | "guildId"> {}

export const emptyKeyForm: NewKeyForm = {
  ...Record.map(keyLabels, () => ""),
  scope: "guild",
  access: "full",
};

export const rulesOf = (key: KeyDetails) => ({
  name: key.name,
  access: key.access,
  allowIps: key.allowIps.join("\n"),
  denyIps: key.denyIps.join("\n"),
  redirectOrigins: key.redirectOrigins.join("\n"),
  expiresAt: key.expiresAt === null ? "" : dayOf(key.expiresAt - 1),
});

/** Returns the end of a day in ISO 8601, null for an empty text, and an invalid day unchanged. */
export const expiryOf = (lastDay: string): string | null => {
  if (lastDay === "") return null;
  const start = Date.parse(`${lastDay}T00:00:00Z`);
  return Number.isNaN(start) ? lastDay : new Date(start + dayMs).toISOString();
};

export const rulesFields = (rules: KeyRules, role: MemberRole): Html => {
  const of = fieldsOf(keyLabels, { ...emptyKeyForm, ...rules });
  return html`
${textField({ ...of("name"), hint: "Where it is used, such as the name of a bot.", maxLength: 80, required: true })}
${radioField({ ...of("access"), choices: accessChoices(rules, role) })}
${linesField({
  ...of("redirectOrigins"),
  hint: "Sites of yours that users may continue to after the verification, such as https://example.com, one on each line. Links to other sites are refused.",
})}
<details${hasRestrictions(rules) ? html` open` : openIfRefused}>
<summary>Restrictions <small>${restrictionsText(rules)}</small></summary>
${linesField({ ...of("allowIps"), hint: "Addresses or ranges such as 203.0.113.0/24, one on each line. Empty: every address." })}
${linesField({ ...of("denyIps"), hint: "Refused even if the list above allows them." })}
${textField({ ...of("expiresAt"), hint: "The last day on which it works, in UTC. Empty: it does not expire.", type: "date" })}
</details>`;
};

const openIfRefused = inPlace(({ problems = [] }) =>
  problems.some(({ name }) => Object.hasOwn(keyLabels, name)) ? html` open` : html``,
);

/** The kinds of access that a member with this role may choose, and the current one. */
const accessChoices = ({ access }: KeyRules, role: MemberRole) =>
  Object.entries(accesses)
    .map(([value, choice]) => ({ value, ...choice }))
    .filter(({ value }) => value !== "manage" || value === access || allows(role, "owner"));

const restrictionsText = (rules: KeyRules): string => {
  if (!hasRestrictions(rules)) return "None: it works from every address and does not expire";
  const { allowIps, denyIps, expiresAt } = rules;
  const [allowed, denied] = [allowIps, denyIps].map((lines) => entriesOf(lines).length);
  return [
    allowed ? `Works from ${counted(allowed, "address", "addresses")} only` : "Works from every address",
    denied ? `but not from ${counted(denied, "denied one")}` : null,
    expiresAt === "" ? "does not expire" : `works until ${expiresAt}`,
  ]
    .filter((part) => part !== null)
    .join(", ");
};

const hasRestrictions = ({ allowIps, denyIps, expiresAt }: KeyRules): boolean =>
  [allowIps, denyIps, expiresAt].some((text) => text !== "");

const menuHint = "Communities that you manage and that have the bot. Only for one community’s own list.";

const keyScopeTexts = {
  guild: "The key sees this list alone, and only members of the community",
  global: sharedListHint,
};

type ScopeForm = Pick<NewKeyForm, "scope" | "guildId">;

/**
 * The fields that choose the communities of a new key or webhook. This choice cannot change later. The community is a
 * menu, or a text field for its ID if the platform did not report the guilds.
 */
export const scopeFields = (
  form: ScopeForm,
  guilds: ReadonlyArray<OwnGuild> | null,
  texts: Record<keyof typeof keyScopeTexts, string> = keyScopeTexts,
): Html => {
  const of = fieldsOf(keyLabels, { ...emptyKeyForm, ...form });
  const choices = [
    { value: "guild", label: "One community’s own list", hint: texts.guild },
    { value: "global", label: "Shared list", hint: texts.global },
  ];
  const idHint = "Its ID, 5 to 32 digits. The bot has to be in it, and you have to manage it.";
  return html`
${radioField({ ...of("scope"), choices })}
<div class="own">${
    guilds === null
      ? textField({ ...of("guildId"), hint: idHint })
      : menuField({ ...of("guildId"), hint: menuHint, choices: guildChoices(guilds) })
  }</div>`;
};

const guildChoices = (guilds: ReadonlyArray<OwnGuild>) => {
  const possible = guilds.filter(({ bot, manager }) => bot && manager);
  const none = { value: "", label: possible.length === 0 ? "You manage none with the bot" : "Choose one" };
  return [
    // A single community is selected from the start, so the menu needs no empty choice.
    ...(possible.length === 1 ? [] : [none]),
    ...possible.map(({ guildId, name }) => ({
      value: guildId,
      label: name === null ? guildId : `${name} (${guildId})`,
    })),
  ];
};
