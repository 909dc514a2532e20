/** The form of a role plan: numbered rules, a nickname, and members to leave alone. */
import type { ParameterProblem } from "@accountlink/core/errors";
import type { GuildRole, RankedGroup } from "@accountlink/core/platforms";
import {
  mostRules,
  NicknameTemplate,
  namesGroupRole,
  type PlanSettings,
  type PlanState,
  RoleCondition,
  type RoleRule,
} from "@accountlink/core/roles";
import { Record, Schema } from "effect";
import type { Fields } from "../owner_pages.ts";

/** The name and label of each field of a rule. `when` is the kind of the condition; for `owner`, of the item. */
const ruleFields = {
  roleId: ["role", "Role"],
  when: ["when", "Members"],
  groupId: ["group", "Group"],
  minRank: ["min", "Lowest rank"],
  maxRank: ["max", "Highest rank"],
  itemId: ["item", "Item"],
  minDays: ["days", "Days"],
} as const;

/** A rule as typed into the form. A rule without a role is not saved. */
export type TypedRule = Readonly<Record<keyof typeof ruleFields, string>>;

export interface RolesForm {
  readonly rules: ReadonlyArray<TypedRule>;
  readonly nickname: string;
  readonly nicknameGroupId: string;
  readonly bypassRoleId: string;
  /** The group whose ranks become rules. */
  readonly ranksOf: string;
}

export const emptyRule: TypedRule = { ...Record.map(ruleFields, () => ""), when: "linked" };

export const roleFormLabels: Readonly<Record<string, string>> = {
  nickname: "Nickname",
  nicknameGroupId: "Group of the nickname",
  bypassRoleId: "Members to leave alone",
  ranksOf: "Group whose ranks become rules",
  rules: "Rules",
  who: "Member",
  ...Object.fromEntries(
    Array.from({ length: mostRules }, (_, i) =>
      Object.values(ruleFields).map(([name, label]) => [`${name}-${i + 1}`, `${label} of rule ${i + 1}`]),
    ).flat(),
  ),
};

export const formOfPlan = (plan: PlanSettings): RolesForm => ({
  rules: plan.rules.length === 0 ? [emptyRule] : plan.rules.map(typedRule),
  nickname: plan.nickname ?? "",
  nicknameGroupId: plan.nicknameGroupId ?? "",
  bypassRoleId: plan.bypassRoleId ?? "",
  ranksOf: "",
});

const typedRule = ({ roleId, when }: RoleRule): TypedRule => {
  const rule = { ...emptyRule, roleId, when: when.is };
  switch (when.is) {
    case "linked":
    case "unlinked":
      return rule;
    case "group": {
      const { groupId, minRank, maxRank } = when;
      return { ...rule, groupId, minRank: `${minRank ?? ""}`, maxRank: `${maxRank ?? ""}` };
    }
    case "owner":
      return { ...rule, when: when.item, itemId: when.itemId };
    case "age":
      return { ...rule, minDays: `${when.minDays}` };
  }
};

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

export const typedRoles = (fields: Fields): RolesForm => {
  const rows = Math.min(mostRules, Number(fields("rows")) || 0);
  return {
    nickname: fields("nickname").trim(),
    nicknameGroupId: fields("nicknameGroupId").trim(),
    bypassRoleId: fields("bypassRoleId"),
    ranksOf: fields("ranksOf").trim(),
    rules: Array.from({ length: rows }, (_, i) =>
      Record.map(ruleFields, ([name]) => fields(`${name}-${i + 1}`).trim()),
    ),
  };
};

/** Converts the typed form into settings, or returns the problems of its fields. */
export const settingsOf = (
  form: RolesForm,
  state: PlanState,
): PlanSettings | ReadonlyArray<ParameterProblem> => {
  const { nickname, nicknameGroupId, bypassRoleId } = form;
  const conditions = form.rules.map((rule, i) => conditionOf(rule, i + 1));
  const problems = conditions.flatMap((condition, i) =>
    isCondition(condition) || form.rules[i]?.roleId === "" ? [] : condition,
  );
  const rules = form.rules.flatMap(({ roleId }, i): ReadonlyArray<RoleRule> => {
    const when = conditions[i];
    return roleId === "" || when === undefined || !isCondition(when) ? [] : [{ roleId, when }];
  });
  if (nickname !== "" && !Schema.is(NicknameTemplate)(nickname))
    problems.push({ name: "nickname", reason: "expected only the names above in braces" });
  if (nicknameGroupId === "" ? namesGroupRole(nickname) : !isId(nicknameGroupId))
    problems.push({ name: "nicknameGroupId", reason: "expected the ID of a group" });
  if (state === "on" && rules.length === 0 && nickname === "" && problems.length === 0)
    problems.push({ name: "role-1", reason: "choose a role, or enter a nickname below" });
  if (problems.length > 0) return problems;
  return {
    rules,
    nickname: nickname || null,
    nicknameGroupId: nicknameGroupId || null,
    bypassRoleId: bypassRoleId || null,
    state,
  };
};

/** Whether the text can be the ID of a group or an item. */
export const isId = (text: string): boolean => /^\d{1,32}$/.test(text);

const isCondition = (given: RoleCondition | ReadonlyArray<ParameterProblem>): given is RoleCondition =>
  !Array.isArray(given);

/** Converts the condition of the rule with this number, or returns the problems of its fields. */
const conditionOf = (rule: TypedRule, number: number): RoleCondition | ReadonlyArray<ParameterProblem> => {
  switch (rule.when) {
    case "group":
      return groupCondition(rule, number);
    case "age": {
      const when = { is: "age" as const, minDays: Number(rule.minDays) };
      return Schema.is(RoleCondition)(when)
        ? when
        : [{ name: `days-${number}`, reason: "expected a number of days" }];
    }
    case "gamepass":
    case "badge":
    case "asset":
      return isId(rule.itemId)
        ? { is: "owner", item: rule.when, itemId: rule.itemId }
        : [{ name: `item-${number}`, reason: "expected the ID of the item" }];
    default:
      return { is: rule.when === "unlinked" ? "unlinked" : "linked" };
  }
};

const groupCondition = ({ groupId, minRank, maxRank }: TypedRule, number: number) => {
  const problems: Array<ParameterProblem> = [];
  const rankOf = (name: string, text: string): number | null => {
    if (text === "") return null;
    const rank = Number(text);
    if (!Number.isInteger(rank) || rank < 0 || rank > 255)
      problems.push({ name: `${name}-${number}`, reason: "expected 0 to 255" });
    return rank;
  };
  const [least, most] = [rankOf("min", minRank), rankOf("max", maxRank)];
  if (!isId(groupId)) problems.push({ name: `group-${number}`, reason: "expected the ID of a group" });
  if (least !== null && most !== null && least > most) {
    problems.push({ name: `max-${number}`, reason: "expected no less than the lowest rank" });
  }
  return problems.length > 0 ? problems : { is: "group" as const, groupId, minRank: least, maxRank: most };
};
