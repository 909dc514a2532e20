/** The form of a role plan: numbered rules, a nickname, and members to leave alone. */
import type { ParameterProblem } from "@accountlink/core/errors";
import { Digits } from "@accountlink/core/ids";
import type { GuildRole, RankedGroup } from "@accountlink/core/platforms";
import {
  type ChosenSettings,
  conditionOf,
  idIn,
  kindOf,
  mostRules,
  NicknameTemplate,
  namesGroupRole,
  type PlanSettings,
  type PlanState,
  type RoleRule,
  ruleFields,
  ruleKindNamed,
  type TypedFields,
  typedFields,
} from "@accountlink/core/roles";
import { Record, Schema } from "effect";
import type { Fields } from "../owner_pages.ts";

/** A rule as typed into the form. `when` is a kind of rules, or a text that another release knows as one. */
export type TypedRule = TypedFields & { readonly roleId: string; readonly when: string };

const namesOfFields = { roleId: "role", when: "when", ...Record.map(ruleFields, ({ name }) => name) };

export interface RolesForm {
  readonly rules: ReadonlyArray<TypedRule>;
  readonly nickname: string;
  readonly nicknameGroupId: string;
  readonly bypassRoleId: string;
  readonly unlinked: PlanSettings["unlinked"];
  /** The group whose ranks become rules. */
  readonly ranksOf: string;
}

export const emptyRule: TypedRule = { roleId: "", when: "linked", ...typedFields({ is: "linked" }) };

const fieldLabels: Readonly<Record<string, string>> = {
  role: "Role",
  when: "Members",
  ...Object.fromEntries(Object.values(ruleFields).map(({ name, label }) => [name, label])),
};

export const roleFormLabels: Readonly<Record<string, string>> = {
  nickname: "Nickname",
  nicknameGroupId: "Group of the nickname",
  bypassRoleId: "Members to leave alone",
  unlinked: "Members who have not linked",
  ranksOf: "Group whose ranks become rules",
  rules: "Rules",
  seen: "Rules",
  who: "Member",
  ...Object.fromEntries(
    Array.from({ length: mostRules }, (_, i) =>
      Object.entries(fieldLabels).map(([name, label]) => [`${name}-${i + 1}`, `${label} of rule ${i + 1}`]),
    ).flat(),
  ),
};

const isEmptyRule = (rule: TypedRule): boolean => JSON.stringify(rule) === JSON.stringify(emptyRule);

/** Returns the rules without those that nobody has filled in. */
export const filledRules = (rules: ReadonlyArray<TypedRule>): ReadonlyArray<TypedRule> =>
  rules.filter((rule) => !isEmptyRule(rule));

/** Whether a plan has never been set up: it gives nothing, and its guild has no linking. */
export const isNewPlan = ({ rules, nickname, state }: PlanSettings): boolean =>
  rules.length === 0 && nickname === null && state === "paused";

export const formOfPlan = (plan: PlanSettings): RolesForm => ({
  rules: isNewPlan(plan)
    ? [emptyRule]
    : plan.rules.map(({ roleId, when }) => ({ roleId, when: kindOf(when), ...typedFields(when) })),
  nickname: plan.nickname ?? "",
  nicknameGroupId: plan.nicknameGroupId ?? "",
  bypassRoleId: plan.bypassRoleId ?? "",
  unlinked: plan.unlinked,
  ranksOf: "",
});

/** Returns a rule for each rank of a group that has the name of a role, unless there is this rule already. */
export const rulesOfRanks = (
  { id: groupId, ranks }: RankedGroup,
  roles: ReadonlyArray<GuildRole>,
  present: ReadonlyArray<TypedRule>,
): ReadonlyArray<TypedRule> => {
  const roleIds = new Map(roles.map(({ name, id }) => [name.trim().toLowerCase(), id]));
  return ranks.flatMap(({ rank, name }): ReadonlyArray<TypedRule> => {
    const roleId = roleIds.get(name.trim().toLowerCase());
    if (roleId === undefined) return [];
    const rule = { ...emptyRule, roleId, when: "group", groupId, minRank: `${rank}`, maxRank: `${rank}` };
    return present.some((each) => JSON.stringify(each) === JSON.stringify(rule)) ? [] : [rule];
  });
};

/** Returns the ranks of a group that no role is named after. Rank 0 is not in the group. */
export const ranksWithoutRole = (
  { ranks }: RankedGroup,
  roles: ReadonlyArray<GuildRole>,
): ReadonlyArray<string> => {
  const known = new Set(roles.map(({ name }) => name.trim().toLowerCase()));
  const names = ranks.filter(({ rank }) => rank > 0).map(({ name }) => name.trim());
  return [...new Set(names)].filter((name) => name !== "" && !known.has(name.toLowerCase()));
};

export const typedRoles = (fields: Fields): RolesForm => {
  const rows = Math.min(mostRules, Number(fields("rows")) || 0);
  return {
    nickname: fields("nickname").trim(),
    nicknameGroupId: idIn("group", fields("nicknameGroupId").trim()),
    bypassRoleId: fields("bypassRoleId"),
    unlinked: fields("unlinked") === "keep" ? "keep" : "remove",
    ranksOf: idIn("group", fields("ranksOf").trim()),
    rules: Array.from({ length: rows }, (_, i) => typedRule(fields, i + 1)),
  };
};

/** Reads the rule with this number. An address of a thing becomes the thing's ID. */
const typedRule = (fields: Fields, number: number): TypedRule => {
  const rule = Record.map(namesOfFields, (name) => fields(`${name}-${number}`).trim());
  const kind = ruleKindNamed(rule.when);
  if (kind === undefined) return rule;
  return { ...rule, groupId: idIn(kind, rule.groupId), itemId: idIn(kind, rule.itemId) };
};

/** Converts the typed form into settings, or returns the problems of its fields. */
export const settingsOf = (
  form: RolesForm,
  state: PlanState,
): ChosenSettings | ReadonlyArray<ParameterProblem> => {
  const { nickname, nicknameGroupId, bypassRoleId, unlinked } = form;
  const read = form.rules.map((rule, i) => ruleOf(rule, i + 1));
  const rules = read.filter((rule) => "roleId" in rule);
  const problems = read.flatMap((rule) => ("roleId" in rule ? [] : rule));
  if (nickname !== "" && !Schema.is(NicknameTemplate)(nickname))
    problems.push({
      name: "nickname",
      reason: "expected at least one of the names above in braces, and no other",
    });
  if (nicknameGroupId === "" ? namesGroupRole(nickname) : !isId(nicknameGroupId))
    problems.push({ name: "nicknameGroupId", reason: "expected the ID or the address of a group" });
  if (problems.length > 0) return problems;
  return {
    rules,
    nickname: nickname || null,
    nicknameGroupId: nicknameGroupId || null,
    bypassRoleId: bypassRoleId || null,
    unlinked,
    state,
  };
};

/** Converts the rule with this number, or returns the problems of its fields. */
const ruleOf = (typed: TypedRule, number: number): RoleRule | ReadonlyArray<ParameterProblem> => {
  const { roleId, when } = typed;
  const kind = ruleKindNamed(when);
  const condition = kind === undefined ? [] : conditionOf(kind, typed);
  const problems: Array<ParameterProblem> = [];
  if (kind === undefined)
    problems.push({ name: `when-${number}`, reason: "this version knows no such rule" });
  if (roleId === "") problems.push({ name: `role-${number}`, reason: "choose the role, or remove the rule" });
  if ("is" in condition && problems.length === 0) return { roleId, when: condition };
  const wrong = "is" in condition ? [] : condition;
  return [
    ...problems,
    ...wrong.map(({ field, reason }) => ({ name: `${ruleFields[field].name}-${number}`, reason })),
  ];
};

/** Whether the text can be the ID of a group or an item. */
export const isId = Schema.is(Digits);
