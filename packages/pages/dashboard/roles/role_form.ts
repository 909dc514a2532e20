/** The form of a role plan: numbered rules and a nickname. */
import type { ParameterProblem } from "@accountlink/core/errors";
import {
  mostRules,
  NicknameTemplate,
  type PlanSettings,
  type PlanState,
  type RoleRule,
} from "@accountlink/core/roles";
import { Schema } from "effect";
import type { Fields } from "../owner_pages.ts";

/** A rule as typed into the form. A rule without a role is not saved. */
export interface TypedRule {
  readonly roleId: string;
  readonly when: string;
  readonly groupId: string;
  readonly minRank: string;
  readonly maxRank: string;
}

export interface RolesForm {
  readonly rules: ReadonlyArray<TypedRule>;
  readonly nickname: string;
}

export const emptyRule: TypedRule = { roleId: "", when: "linked", groupId: "", minRank: "", maxRank: "" };

export const roleFormLabels: Readonly<Record<string, string>> = {
  nickname: "Nickname",
  rules: "Rules",
  who: "Member",
  ...Object.fromEntries(
    Array.from({ length: mostRules }, (_, i) => i + 1).flatMap((number) => [
      [`role-${number}`, `Role of rule ${number}`],
      [`group-${number}`, `Group of rule ${number}`],
      [`min-${number}`, `Lowest rank of rule ${number}`],
      [`max-${number}`, `Highest rank of rule ${number}`],
    ]),
  ),
};

export const formOfPlan = ({ rules, nickname }: PlanSettings): RolesForm => ({
  rules: rules.length === 0 ? [emptyRule] : rules.map(typedRule),
  nickname: nickname ?? "",
});

const typedRule = ({ roleId, when }: RoleRule): TypedRule => {
  if (when.is !== "group") return { ...emptyRule, roleId, when: when.is };
  const { groupId, minRank, maxRank } = when;
  return { roleId, when: "group", groupId, minRank: `${minRank ?? ""}`, maxRank: `${maxRank ?? ""}` };
};

export const typedRoles = (fields: Fields): RolesForm => {
  const rows = Math.min(mostRules, Number(fields("rows")) || 0);
  return {
    nickname: fields("nickname").trim(),
    rules: Array.from({ length: rows }, (_, i) => ({
      roleId: fields(`role-${i + 1}`),
      when: fields(`when-${i + 1}`),
      groupId: fields(`group-${i + 1}`).trim(),
      minRank: fields(`min-${i + 1}`).trim(),
      maxRank: fields(`max-${i + 1}`).trim(),
    })),
  };
};

/** Converts the typed form into settings, or returns the problems of its fields. */
export const settingsOf = (
  { rules, nickname }: RolesForm,
  state: PlanState,
): PlanSettings | ReadonlyArray<ParameterProblem> => {
  const problems: Array<ParameterProblem> = [];
  const rankOf = (name: string, text: string): number | null => {
    if (text === "") return null;
    const rank = Number(text);
    if (!Number.isInteger(rank) || rank < 0 || rank > 255)
      problems.push({ name, reason: "expected 0 to 255" });
    return rank;
  };
  const chosen = rules.flatMap(({ roleId, when, groupId, minRank, maxRank }, i): ReadonlyArray<RoleRule> => {
    if (roleId === "") return [];
    if (when !== "group") return [{ roleId, when: { is: when === "unlinked" ? "unlinked" : "linked" } }];
    const [least, most] = [rankOf(`min-${i + 1}`, minRank), rankOf(`max-${i + 1}`, maxRank)];
    if (!/^\d{1,32}$/.test(groupId))
      problems.push({ name: `group-${i + 1}`, reason: "expected the ID of a group" });
    if (least !== null && most !== null && least > most) {
      problems.push({ name: `max-${i + 1}`, reason: "expected no less than the lowest rank" });
    }
    return [{ roleId, when: { is: "group", groupId, minRank: least, maxRank: most } }];
  });
  if (nickname !== "" && !Schema.is(NicknameTemplate)(nickname))
    problems.push({ name: "nickname", reason: "expected only the four names above in braces" });
  if (state === "on" && chosen.length === 0 && nickname === "")
    problems.push({ name: "role-1", reason: "choose a role, or enter a nickname below" });
  return problems.length > 0 ? problems : { rules: chosen, nickname: nickname || null, state };
};
