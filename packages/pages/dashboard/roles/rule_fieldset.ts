/** The fields of a rule: its conditions, its role and its nickname. */
import {
  mostCombined,
  type RuleField,
  type RuleKindName,
  rowOf,
  ruleFields,
  ruleKindNamed,
} from "@accountlink/core/roles";
import { type Html, html } from "../../html.ts";
import { checksField, menuField, textField } from "../look/field.ts";
import type { Refused } from "../look/refused.ts";
import type { Visitor } from "../page.ts";
import { roleChoices } from "./ranks_fields.ts";
import {
  partOf,
  type RolesForm,
  roleFormLabels,
  ruleOf,
  type TypedCondition,
  type TypedRule,
} from "./role_form.ts";
import { kindChoices, shownParts } from "./rule_choices.ts";
import { type RuleNames, ruleSentence, thingKey } from "./rule_sentence.ts";

type Shown = Pick<Visitor, "platforms">;

interface RuleView extends RuleNames {
  /** The kinds of rules that the game platform has what they need for. */
  readonly kinds: ReadonlyArray<RuleKindName>;
  /** The kinds of items that the game platform has. */
  readonly itemKinds: ReadonlyArray<string>;
}

/** Returns the name of a group or an item, a sentence if the platform has none, or `otherwise` before a lookup. */
export const thingHint = (
  { things }: Pick<RuleNames, "things">,
  [kind, id]: readonly [kind: string, id: string],
  { platforms }: Shown,
  otherwise: string,
): string => {
  const thing = things.get(thingKey(kind, id));
  const named = ruleKindNamed(kind);
  if (thing !== null || named === undefined) return thing?.name ?? otherwise;
  return `No ${rowOf(named).thing} on ${platforms.game} has this ID.`;
};

const button = (act: string, label: string, what: string) =>
  html`<button class="button quiet small" name="act" value="${act}" aria-label="${what}">${label}</button>`;

/** @param place the number of the rule, and how many there are */
export const ruleFieldset = (
  view: RuleView,
  rule: TypedRule,
  [number, count]: readonly [number: number, count: number],
  visitor: Shown,
  problems: Refused["problems"],
): Html => {
  const { roleId, conditions } = rule;
  const read = ruleOf(rule, number);
  return html`
<fieldset class="rule">
<legend>Rule ${number}</legend>
${"roleId" in read ? html`<p>${ruleSentence(view, read)}</p>` : null}
<input type="hidden" name="parts-${number}" value="${conditions.length}">
${conditions.map((each, i) => conditionFields(view, each, [number, i + 1], visitor, problems))}
${
  conditions.length < mostCombined
    ? html`<p class="row">${button(`condition-${number}`, "And …", `And …: add a condition to rule ${number}`)}</p>`
    : null
}
<div class="parts">
${menuField({
  name: `role-${number}`,
  label: "gets the role",
  value: roleId,
  problems,
  choices: [{ value: "", label: "Choose a role" }, ...roleChoices(view, roleId === "" ? [] : [roleId])],
})}
${textField({
  name: `nickname-${number}`,
  label: "Nickname by this rule",
  hint: "Of linked members. The first rule with one counts. Empty: none.",
  value: rule.nickname,
  maxLength: 100,
  problems,
})}
</div>
<p class="row">${number > 1 ? button(`up-${number}`, "Up", `Move rule ${number} up`) : null}
${number < count ? button(`down-${number}`, "Down", `Move rule ${number} down`) : null}
${button(`remove-${number}`, "Remove", `Remove rule ${number}`)}</p>
</fieldset>`;
};

const conditionFields = (
  view: RuleView,
  typed: TypedCondition,
  [rule, condition]: readonly [rule: number, condition: number],
  visitor: Shown,
  problems: Refused["problems"],
): Html => {
  const { when } = typed;
  const part = partOf(rule, condition);
  const kind = ruleKindNamed(when);
  const thingField = kind && rowOf(kind).parts?.includes("group") ? "groupId" : "itemId";
  const hintOf = (field: RuleField) => {
    const { hint } = ruleFields[field];
    if (field === "itemKind" && view.itemKinds.length > 0) return `One of ${view.itemKinds.join(", ")}.`;
    return field === thingField ? thingHint(view, [when, typed[field]], visitor, hint) : hint;
  };
  return html`
<div class="condition">
${menuField({
  name: `when-${part}`,
  label: condition === 1 ? "Who" : "and",
  value: when,
  problems,
  choices: kindChoices(view.kinds, when, visitor.platforms.game),
})}
${shownParts(view.kinds, kind).map(
  ([name, fields]) => html`<div class="parts ${name}">
${fields.map((field) =>
  textField({
    name: `${ruleFields[field].name}-${part}`,
    label: ruleFields[field].label,
    hint: hintOf(field),
    value: typed[field],
    maxLength: ruleFields[field].maxLength,
    problems,
  }),
)}
</div>`,
)}
${
  condition === 1
    ? null
    : html`<p class="row"><button class="button quiet small" name="act" value="drop-${rule}-${condition}" aria-label="Remove condition ${condition} of rule ${rule}">Remove this condition</button></p>`
}
</div>`;
};

/** Asks for roles whose members, or their nicknames, are left alone. */
export const bypassField = (
  view: RuleNames,
  form: RolesForm,
  name: "bypassRoleIds" | "nicknameBypassRoleIds",
  hint: string,
  problems: Refused["problems"],
): Html => {
  const chosen = form[name];
  return html`
<details${chosen.length === 0 ? null : html` open`}>
<summary>${roleFormLabels[name] ?? ""}${chosen.length === 0 ? ": nobody" : null}</summary>
${checksField({ name, label: roleFormLabels[name] ?? "", hint, values: chosen, choices: roleChoices(view, chosen, (role) => role), problems })}
</details>`;
};
