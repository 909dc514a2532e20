import type { ParameterProblem } from "@accountlink/core/errors";
import type { KeyDetails } from "@accountlink/core/keys";
import type { OwnGuild } from "@accountlink/core/platforms";
import { dayMs } from "@accountlink/core/timestamp";
import { type Html, html } from "../../html.ts";
import { type Choice, linesField, menuField, radioField, textField } from "../look/field.ts";
import { sharedListHint } from "../look/list_name.ts";
import { accesses } from "../look/owned_key.ts";
import { counted, dayOf } from "../look/time.ts";

export interface KeyRules {
  readonly name: string;
  readonly access: string;
  /** One address or range per line. `denyIps` and `redirectOrigins` have one entry per line too. */
  readonly allowIps: string;
  readonly denyIps: string;
  readonly redirectOrigins: string;
  /** The last UTC day on which the key is accepted; empty for no expiry. */
  readonly lastDay: string;
}

export interface NewKeyForm extends KeyRules {
  readonly scope: string;
  readonly guildId: string;
}

export const keyLabels: Readonly<Record<string, string>> = {
  name: "Name",
  scope: "List of links",
  guildId: "Community",
  access: "Permissions",
  allowIps: "Allowed addresses",
  denyIps: "Denied addresses",
  redirectOrigins: "Sites to continue to",
  expiresAt: "Expires after",
};

const labelOf = (name: string): string => keyLabels[name] ?? name;

export const rulesOf = (key: KeyDetails): KeyRules => ({
  name: key.name,
  access: key.access,
  allowIps: key.allowIps.join("\n"),
  denyIps: key.denyIps.join("\n"),
  redirectOrigins: key.redirectOrigins.join("\n"),
  lastDay: key.expiresAt === null ? "" : dayOf(key.expiresAt - 1),
});

/** Returns the end of a day in ISO 8601, null for an empty text, and an invalid day unchanged. */
export const expiryOf = (lastDay: string): string | null => {
  if (lastDay === "") return null;
  const start = Date.parse(`${lastDay}T00:00:00Z`);
  return Number.isNaN(start) ? lastDay : new Date(start + dayMs).toISOString();
};

/** Splits the text of a field into entries, at line breaks and commas. */
export const entriesOf = (lines: string): ReadonlyArray<string> =>
  lines
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== "");

export const rulesFields = (rules: KeyRules, problems: ReadonlyArray<ParameterProblem>): Html => html`
${textField({ name: "name", label: labelOf("name"), hint: "Where it is used, such as the name of a bot.", value: rules.name, maxLength: 80, required: true, problems })}
${radioField({
  name: "access",
  label: labelOf("access"),
  value: rules.access,
  problems,
  choices: Object.entries(accesses).map(([value, choice]) => ({ value, ...choice })),
})}
${linesField({ name: "redirectOrigins", label: labelOf("redirectOrigins"), hint: "Sites of yours that users may continue to after the verification, such as https://example.com, one on each line. Links to other sites are refused.", value: rules.redirectOrigins, problems })}
<details${hasRestrictions(rules) || problems.length > 0 ? html` open` : null}>
<summary>Restrictions <small>${restrictionsText(rules)}</small></summary>
${linesField({ name: "allowIps", label: labelOf("allowIps"), hint: "Addresses or ranges such as 203.0.113.0/24, one on each line. Empty: every address.", value: rules.allowIps, problems })}
${linesField({ name: "denyIps", label: labelOf("denyIps"), hint: "Refused even if the list above allows them.", value: rules.denyIps, problems })}
${textField({ name: "expiresAt", label: labelOf("expiresAt"), hint: "The last day on which it works, in UTC. Empty: it does not expire.", type: "date", value: rules.lastDay, problems })}
</details>`;

const restrictionsText = (rules: KeyRules): string => {
  if (!hasRestrictions(rules)) return "None: it works from every address and does not expire";
  const { allowIps, denyIps, lastDay } = rules;
  const [allowed, denied] = [allowIps, denyIps].map((lines) => entriesOf(lines).length);
  return [
    allowed ? `Works from ${counted(allowed, "address", "addresses")} only` : "Works from every address",
    denied ? `but not from ${counted(denied, "denied one")}` : null,
    lastDay === "" ? "does not expire" : `works until ${lastDay}`,
  ]
    .filter((part) => part !== null)
    .join(", ");
};

const hasRestrictions = ({ allowIps, denyIps, lastDay }: KeyRules): boolean =>
  [allowIps, denyIps, lastDay].some((text) => text !== "");

interface ScopeTexts {
  readonly guild: string;
  readonly global: string;
  readonly menu: string;
}

const keyScopeTexts: ScopeTexts = {
  guild: "The key sees this list alone, and only members of the community",
  global: sharedListHint,
  menu: "Communities that you manage and that have the bot. Only for one community’s own list.",
};

type ScopeForm = Pick<NewKeyForm, "scope" | "guildId">;

/** The fields that choose the communities of a new key or webhook. This choice cannot change later. */
export const scopeFields = (
  form: ScopeForm,
  guilds: ReadonlyArray<OwnGuild> | null,
  problems: ReadonlyArray<ParameterProblem>,
  texts = keyScopeTexts,
): Html => html`
${radioField({
  name: "scope",
  label: labelOf("scope"),
  value: form.scope,
  problems,
  choices: [
    {
      value: "guild",
      label: "One community’s own list",
      hint: texts.guild,
    },
    { value: "global", label: "Shared list", hint: texts.global },
  ],
})}
<div class="own">${guildField(form, guilds, problems, texts)}</div>`;

/** A menu of communities to choose from, or a text field for the ID if the platform did not report the guilds. */
const guildField = (
  { guildId }: ScopeForm,
  guilds: ReadonlyArray<OwnGuild> | null,
  problems: ReadonlyArray<ParameterProblem>,
  texts: ScopeTexts,
): Html => {
  const field = { name: "guildId", label: labelOf("guildId"), value: guildId, problems };
  if (guilds === null) {
    return textField({
      ...field,
      hint: "Its ID, 5 to 32 digits. The bot has to be in it, and you have to manage it.",
    });
  }
  const possible = guilds.filter(({ bot, manager }) => bot && manager);
  return menuField({
    ...field,
    hint: texts.menu,
    choices: [
      // A single community is selected from the start, so the menu needs no empty choice.
      ...(possible.length === 1
        ? []
        : [{ value: "", label: possible.length === 0 ? "You manage none with the bot" : "Choose one" }]),
      ...possible.map(choiceOf),
    ],
  });
};

const choiceOf = ({ guildId, name }: OwnGuild): Choice => ({
  value: guildId,
  label: name === null ? guildId : `${name} (${guildId})`,
});
