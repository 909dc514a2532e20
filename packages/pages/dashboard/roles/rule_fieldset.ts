/** The fields of a rule: its conditions, its role and its nickname. */
import {
  mostCombined,
  nicknameOf,
  type RuleField,
  type RuleKindName,
  rowOf,
  ruleFields,
  ruleKindNamed,
} from "@accountlink/core/roles";
import { type Html, html } from "../../html.ts";
import { checksField, focusOn, menuField, textField } from "../look/field.ts";
import { platforms } from "../look/names.ts";
import { plain, say, tags } from "../look/say.ts";
import { roleChoices } from "./ranks_fields.ts";
import { partOf, type RolesForm, ruleOf, type TypedCondition, type TypedRule } from "./role_form.ts";
import { kindChoices, shownParts, thingOf } from "./rule_choices.ts";
import { type RuleNames, ruleSentence, thingKey } from "./rule_sentence.ts";

const hints: Readonly<Record<Exclude<RuleField, "roleId">, Html>> = {
  days: say("rule.hint.wait"),
  groupId: say("rule.hint.id"),
  minRank: say("rule.hint.rank"),
  maxRank: say("rule.hint.rank"),
  itemId: say("rule.hint.id"),
  itemKind: say("rule.hint.kind"),
  minDays: say("rule.hint.days"),
};

export interface RuleView extends RuleNames {
  /** The kinds of rules that the game platform has what they need for. */
  readonly kinds: ReadonlyArray<RuleKindName>;
  readonly itemKinds: ReadonlyArray<string>;
}

/** Returns the name of a group or an item, a sentence if the platform has none, or `otherwise` before a lookup. */
export const thingHint = (
  { things }: Pick<RuleNames, "things">,
  [kind, id]: readonly [kind: string, id: string],
  otherwise: Html,
): string | Html => {
  const thing = things.get(thingKey(kind, id));
  const named = ruleKindNamed(kind);
  if (thing !== null || named === undefined) return thing?.name ?? otherwise;
  return say(`rule.none.${named === "group" ? named : thingOf(named)}`, { platform: platforms.game });
};

const button = (act: string, label: Html) =>
  html`<button class="button quiet small" name="act" value="${act}"${focusOn(act)}>${label}</button>`;

/** @param place the number of the rule, and how many there are */
export const ruleFieldset = (
  view: RuleView,
  rule: TypedRule,
  [number, count]: readonly [number: number, count: number],
): Html => {
  const { roleId, conditions } = rule;
  const read = ruleOf(rule, number);
  const place = { number: String(number), unseen: tags.unseen };
  return html`
<fieldset class="rule">
<legend>${say("rule.number", { number: place.number })}</legend>
${"roleId" in read ? html`<p>${ruleSentence(view, read)}</p>` : null}
<input type="hidden" name="parts-${number}" value="${conditions.length}">
${conditions.map((each, i) => conditionFields(view, each, [number, i + 1]))}
${
  conditions.length < mostCombined &&
  html`<p class="row">${button(`condition-${number}`, say("rule.add_condition", place))}</p>`
}
<div class="parts">
${menuField({
  name: `role-${number}`,
  label: say("rule.gets"),
  value: roleId,
  choices: roleMenu(view, roleId),
})}
${textField({
  name: `nickname-${number}`,
  label: say("rule.nickname"),
  hint: html`${say("rule.nickname.hint")}${
    exampleOf(rule.nickname) ??
    html` ${say("rule.nickname.example", { code: tags.code, template: hasGroups(view) ? "{group.role} | {game.username}" : "{game.displayName} | {game.username}" })}`
  }`,
  value: rule.nickname,
  maxLength: 100,
})}
</div>
<p class="row">${number > 1 ? button(`up-${number}`, say("rule.up", place)) : null}
${number < count ? button(`down-${number}`, say("rule.down", place)) : null}
${button(`remove-${number}`, say("rule.remove", place))}</p>
</fieldset>`;
};

/** Returns whether the game platform has groups, which `{group.role}` needs. */
export const hasGroups = ({ kinds }: RuleView): boolean => kinds.includes("group");

const roleMenu = (view: RuleView, roleId: string, labelOf?: Parameters<typeof roleChoices>[2]) => [
  { value: "", label: say("rule.choose_role") },
  ...roleChoices(view, roleId === "" ? [] : [roleId], labelOf),
];

const conditionFields = (
  view: RuleView,
  typed: TypedCondition,
  [rule, condition]: readonly [rule: number, condition: number],
): Html => {
  const { when } = typed;
  const part = partOf(rule, condition);
  const kind = ruleKindNamed(when);
  const thingField = kind && rowOf(kind).parts?.includes("group") ? "groupId" : "itemId";
  const hintOf = (field: keyof typeof hints) => {
    const hint = hints[field];
    if (field === "itemKind" && view.itemKinds.length > 0)
      return say("rule.hint.kinds", { kinds: view.itemKinds.join(", ") });
    return field === thingField ? thingHint(view, [when, typed[field]], hint) : hint;
  };
  return html`
<div class="condition"${condition !== 1 && html` role="group" aria-label="${plain(say("rule.condition", { number: String(condition) }))}"`}>
<div class="parts">
${menuField({
  name: `when-${part}`,
  label: say(condition === 1 ? "rule.who" : "rule.and"),
  value: when,
  choices: kindChoices(view.kinds, when),
})}
${menuField({
  name: `whether-${part}`,
  label: say("rule.whether"),
  value: typed.whether,
  choices: [
    { value: "", label: say("rule.whether.met") },
    { value: "not", label: say("rule.whether.not") },
  ],
})}
</div>
${shownParts(view.kinds, kind).map(
  ([name, fields]) => html`<div class="parts ${name}">
${fields.map((field) => {
  const { name: key, maxLength } = ruleFields[field];
  const shown = { name: `${key}-${part}`, label: say(`rule.field.${field}`), value: typed[field] };
  return field === "roleId"
    ? menuField({ ...shown, choices: roleMenu(view, typed.roleId, (role) => role) })
    : textField({ ...shown, hint: hintOf(field), maxLength });
})}
</div>`,
)}
${
  condition !== 1 &&
  html`<p class="row"><button class="button quiet small" name="act" value="drop-${rule}-${condition}">${say("rule.drop_condition", { condition: String(condition), number: String(rule), unseen: tags.unseen })}</button></p>`
}
</div>`;
};

/** Shows the nickname that the template would give to a made-up member. */
export const exampleOf = (template: string): Html | null => {
  const game = { username: "ada_g", displayName: "Ada" };
  const chat = { username: "lovelace", displayName: "Lady Ada" };
  const rank = "Officer";
  const example = nicknameOf(template, { game, chat, groupRole: rank });
  return example === null
    ? null
    : html` ${say("roles.nickname.example", {
        b: tags.b,
        member: chat.displayName,
        rank,
        player: game.username,
        example,
      })}`;
};

/** Asks for roles whose members, or their nicknames, are left alone. */
export const bypassField = (
  view: RuleNames,
  form: RolesForm,
  name: "bypassRoleIds" | "nicknameBypassRoleIds",
): Html => {
  const chosen = form[name];
  const key = name === "bypassRoleIds" ? "roles.bypass" : "roles.bypass_nicknames";
  return html`
<details${chosen.length > 0 && html` open`}>
<summary>${chosen.length === 0 ? say(`${key}.nobody`) : say(key)}</summary>
${checksField({ name, label: say(key), hint: say(`${key}.hint`), values: chosen, choices: roleChoices(view, chosen, (role) => role) })}
</details>`;
};
