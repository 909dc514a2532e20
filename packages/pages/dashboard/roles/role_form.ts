/** The form of a role plan: numbered rules, a nickname, and members to leave alone. */
import { Digits } from "@accountlink/core/ids";
import type { GuildRole, RankedGroup } from "@accountlink/core/platforms";
import {
  allOf,
  conditionOf,
  conditionsIn,
  idIn,
  kindOf,
  mostCombined,
  mostRules,
  NicknameTemplate,
  namesGroupRole,
  type PlanSettings,
  type PlanState,
  type RoleRule,
  ruleFields,
  ruleKindNamed,
  type SingleCondition,
  type TypedFields,
  typedFields,
} from "@accountlink/core/roles";
import { Record, Schema } from "effect";
import type { Html, Problem } from "../../html.ts";
import type { Fields } from "../form_fields.ts";
import { say } from "../look/say.ts";

/** A condition as typed into the form. `when` is a kind of rules, or a text that another release knows as one. */
export type TypedCondition = TypedFields & {
  readonly when: string;
  /** `not` if the condition must not be met, else empty. */
  readonly whether: string;
};

export interface TypedRule {
  readonly roleId: string;
  readonly nickname: string;
  /** One, or several that all have to be met. */
  readonly conditions: ReadonlyArray<TypedCondition>;
}

const conditionFields = { when: "when", whether: "whether", ...Record.map(ruleFields, ({ name }) => name) };

/** Returns the end of the names of a condition's fields. Conditions and rules are numbered from 1. */
export const partOf = (rule: number, condition: number): string =>
  condition === 1 ? String(rule) : `${rule}-${condition}`;

export interface RolesForm {
  readonly rules: ReadonlyArray<TypedRule>;
  readonly nickname: string;
  readonly nicknameGroupId: string;
  readonly bypassRoleIds: ReadonlyArray<string>;
  readonly nicknameBypassRoleIds: ReadonlyArray<string>;
  readonly unlinked: PlanSettings["unlinked"];
  readonly ranksOf: string;
}

const typedCondition = (when: SingleCondition): TypedCondition => ({
  when: kindOf(when),
  whether: when.is === "not" ? when.is : "",
  ...typedFields(when),
});

const emptyCondition = typedCondition({ is: "linked" });

const emptyRule: TypedRule = { roleId: "", nickname: "", conditions: [emptyCondition] };

const conditionLabels: Readonly<Record<string, Html>> = {
  when: say("rule.members"),
  whether: say("rule.whether"),
  ...Record.mapEntries(ruleFields, ({ name }, field) => [name, say(`rule.field.${field}`)]),
};

export const roleFormLabels: Readonly<Record<string, Html>> = {
  nickname: say("roles.nickname"),
  nicknameGroupId: say("roles.nickname_group"),
  bypassRoleIds: say("roles.bypass"),
  nicknameBypassRoleIds: say("roles.bypass_nicknames"),
  unlinked: say("preview.unlinked"),
  ranksOf: say("ranks.group"),
  rules: say("roles.rules"),
  seen: say("roles.rules"),
  who: say("roles.member"),
  ...Object.fromEntries(
    Array.from({ length: mostRules }, (_, i) => {
      const labelOf = (label: Html) => say("rule.of", { label, number: String(i + 1) });
      return [
        [`role-${i + 1}`, labelOf(say("rule.role"))],
        [`nickname-${i + 1}`, labelOf(say("roles.nickname"))],
        ...Array.from({ length: mostCombined }, (_each, part) =>
          Object.entries(conditionLabels).map(([name, label]) => [
            `${name}-${partOf(i + 1, part + 1)}`,
            labelOf(label),
          ]),
        ).flat(),
      ];
    }).flat(),
  ),
};

const isEmptyRule = (rule: TypedRule): boolean => JSON.stringify(rule) === JSON.stringify(emptyRule);

export const filledRules = (rules: ReadonlyArray<TypedRule>): ReadonlyArray<TypedRule> =>
  rules.filter((rule) => !isEmptyRule(rule));

/** Whether a plan has never been set up: it gives nothing, and its guild has no linking. */
export const isNewPlan = ({ rules, nickname, state }: PlanSettings): boolean =>
  rules.length === 0 && nickname === null && state === "paused";

export const formOfPlan = (plan: PlanSettings): RolesForm => ({
  rules: isNewPlan(plan)
    ? [emptyRule]
    : plan.rules.map(({ roleId, when, nickname }) => ({
        roleId,
        nickname: nickname ?? "",
        conditions: conditionsIn(when).map(typedCondition),
      })),
  nickname: plan.nickname ?? "",
  nicknameGroupId: plan.nicknameGroupId ?? "",
  bypassRoleIds: plan.bypassRoleIds,
  nicknameBypassRoleIds: plan.nicknameBypassRoleIds,
  unlinked: plan.unlinked,
  ranksOf: "",
});

/** A rank and a role have the same name, whichever way their accents and letters are written. */
const foldedName = (name: string): string => name.trim().normalize("NFC").toLowerCase();

/** Rank 0 is not in the group: its rule would hold for nobody, and take the role from everybody. */
const ranksIn = ({ ranks }: RankedGroup) => ranks.filter(({ rank }) => rank > 0);

/** Returns a rule for each rank of a group that has the name of a role, unless there is this rule already. */
export const rulesOfRanks = (
  group: RankedGroup,
  roles: ReadonlyArray<GuildRole>,
  present: ReadonlyArray<TypedRule>,
): ReadonlyArray<TypedRule> => {
  const roleIds = new Map(roles.map(({ name, id }) => [foldedName(name), id]));
  return ranksIn(group).flatMap(({ rank, name }): ReadonlyArray<TypedRule> => {
    const roleId = roleIds.get(foldedName(name));
    if (roleId === undefined) return [];
    const ranked = {
      ...emptyCondition,
      when: "group",
      groupId: group.id,
      minRank: `${rank}`,
      maxRank: `${rank}`,
    };
    const rule = { ...emptyRule, roleId, conditions: [ranked] };
    return present.some((each) => JSON.stringify(each) === JSON.stringify(rule)) ? [] : [rule];
  });
};

export const ranksWithoutRole = (
  group: RankedGroup,
  roles: ReadonlyArray<GuildRole>,
): ReadonlyArray<string> => {
  const known = new Set(roles.map(({ name }) => foldedName(name)));
  const names = ranksIn(group).map(({ name }) => name.trim());
  return [...new Set(names)].filter((name) => name !== "" && !known.has(foldedName(name)));
};

export const typedRoles = (fields: Fields): RolesForm => {
  const rows = Math.min(mostRules, Number(fields("rows")) || 0);
  return {
    nickname: fields("nickname").trim(),
    nicknameGroupId: idIn("group", fields("nicknameGroupId").trim()),
    bypassRoleIds: fields.all("bypassRoleIds"),
    nicknameBypassRoleIds: fields.all("nicknameBypassRoleIds"),
    unlinked: fields("unlinked") === "keep" ? "keep" : "remove",
    ranksOf: idIn("group", fields("ranksOf").trim()),
    rules: Array.from({ length: rows }, (_, i) => typedRule(fields, i + 1)),
  };
};

const typedRule = (fields: Fields, number: number): TypedRule => {
  const parts = Math.min(mostCombined, Number(fields(`parts-${number}`)) || 1);
  return {
    roleId: fields(`role-${number}`).trim(),
    nickname: fields(`nickname-${number}`).trim(),
    conditions: Array.from({ length: parts }, (_, i) => readCondition(fields, partOf(number, i + 1))),
  };
};

/** Reads a condition. An address of a thing becomes the thing's ID. */
const readCondition = (fields: Fields, part: string): TypedCondition => {
  const typed = Record.map(conditionFields, (name) => fields(`${name}-${part}`).trim());
  const kind = ruleKindNamed(typed.when);
  if (kind === undefined) return typed;
  return { ...typed, groupId: idIn(kind, typed.groupId), itemId: idIn(kind, typed.itemId) };
};

const moved = <A>(all: ReadonlyArray<A>, from: number, to: number): ReadonlyArray<A> => {
  const item = all[from];
  if (item === undefined || to < 0 || to >= all.length) return all;
  return all.toSpliced(from, 1).toSpliced(to, 0, item);
};

/** Changes the list of rules as a button of the form says, such as `up-2`; null for another button. */
export const changedRules = (
  rules: ReadonlyArray<TypedRule>,
  button: string,
): ReadonlyArray<TypedRule> | null => {
  const [, act, number, part] = /^(remove|up|down|condition|drop)-(\d+)(?:-(\d+))?$/u.exec(button) ?? [];
  if (act === undefined) return button === "add" ? [...rules, emptyRule].slice(0, mostRules) : null;
  const index = Number(number) - 1;
  const inRule = (change: (conditions: TypedRule["conditions"]) => TypedRule["conditions"]) =>
    rules.map((rule, i) => (i === index ? { ...rule, conditions: change(rule.conditions) } : rule));
  switch (act) {
    case "remove":
      return rules.filter((_, i) => i !== index);
    case "up":
      return moved(rules, index, index - 1);
    case "down":
      return moved(rules, index, index + 1);
    case "condition":
      return inRule((conditions) => [...conditions, emptyCondition].slice(0, mostCombined));
    default:
      return inRule((conditions) => conditions.filter((_, i) => i + 1 !== Number(part) || i === 0));
  }
};

/**
 * Returns the field or button to go on with after a button has changed the rules: of what it added or moved, or else of
 * what has taken the place of the removed.
 */
export const focusAfter = (rules: ReadonlyArray<TypedRule>, button: string): string => {
  const [act, ...numbers] = button.split("-");
  const [rule = rules.length, condition = 1] = numbers.map(Number);
  switch (act) {
    case "up":
      return rule > 2 ? `up-${rule - 1}` : "when-1";
    case "down":
      return rule + 1 < rules.length ? `down-${rule + 1}` : `when-${rules.length}`;
    case "condition":
      return `when-${partOf(rule, rules[rule - 1]?.conditions.length ?? 1)}`;
    case "drop":
      return `when-${partOf(rule, condition - 1)}`;
    default:
      return `when-${Math.min(rule, rules.length)}`;
  }
};

export const settingsOf = (form: RolesForm, state: PlanState): PlanSettings | ReadonlyArray<Problem> => {
  const { nickname, nicknameGroupId, bypassRoleIds, nicknameBypassRoleIds, unlinked } = form;
  const read = form.rules.map((rule, i) => ruleOf(rule, i + 1));
  const rules = read.filter((rule) => "roleId" in rule);
  const problems = read.flatMap((rule) => ("roleId" in rule ? [] : rule));
  if (!isNickname(nickname)) problems.push({ name: "nickname", reason: expectedNickname });
  const templates = [nickname, ...form.rules.map((rule) => rule.nickname)];
  if (nicknameGroupId === "" ? templates.some(namesGroupRole) : !isId(nicknameGroupId))
    problems.push({ name: "nicknameGroupId", reason: say("reason.rule.groupId") });
  if (problems.length > 0) return problems;
  return {
    rules,
    nickname: nickname || null,
    nicknameGroupId: nicknameGroupId || null,
    bypassRoleIds,
    nicknameBypassRoleIds,
    unlinked,
    state,
  };
};

const expectedNickname = say("reason.rule.nickname");

const isNickname = (text: string): boolean => text === "" || Schema.is(NicknameTemplate)(text);

export const ruleOf = (typed: TypedRule, number: number): RoleRule | ReadonlyArray<Problem> => {
  const { roleId, nickname } = typed;
  const read = typed.conditions.map((each, i) => singleOf(each, partOf(number, i + 1)));
  const conditions = read.filter((each) => "is" in each);
  const problems = read.flatMap((each) => ("is" in each ? [] : each));
  if (roleId === "") problems.push({ name: `role-${number}`, reason: say("reason.rule.role") });
  if (!isNickname(nickname)) problems.push({ name: `nickname-${number}`, reason: expectedNickname });
  return problems.length > 0 ? problems : { roleId, when: allOf(conditions), nickname: nickname || null };
};

const singleOf = (typed: TypedCondition, part: string): SingleCondition | ReadonlyArray<Problem> => {
  const kind = ruleKindNamed(typed.when);
  if (kind === undefined) return [{ name: `when-${part}`, reason: say("reason.rule.kind") }];
  const condition = conditionOf(kind, typed);
  if ("is" in condition) return typed.whether === "not" ? { is: "not", of: condition } : condition;
  return condition.map(({ field, expected }) => ({
    name: `${ruleFields[field].name}-${part}`,
    reason: say(`reason.rule.${expected}`),
  }));
};

export const isId = Schema.is(Digits);
