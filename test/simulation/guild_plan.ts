/** Draws role plans of every kind of rule, and says which roles and nickname a member gets by a plan. */
import {
  conditionsIn,
  noPlan,
  type PlainCondition,
  type PlanSettings,
  plainOf,
  type RoleCondition,
} from "@accountlink/core/roles";
import type { Chance } from "@accountlink/testing/simulation";
import { ageOfOld, gameUser, group, isOldGame, pass } from "./people.ts";

/** Roles that rules give, and roles that no rule names. */
const [ruleRoles, otherRoles] = [
  ["1", "2", "3", "4"],
  ["5", "6", "7"],
] as const;
export const allRoles: ReadonlyArray<string> = [...ruleRoles, ...otherRoles];

const [owner, age] = [
  { is: "owner", ...pass },
  { is: "age", minDays: ageOfOld },
] as const;
const inGroup = { is: "group", groupId: group.id, minRank: 100, maxRank: null } as const;

/** A role that no rule gives, so that a member has it from the start or never. */
const asked = { is: "role", roleId: otherRoles[0] } as const;

const conditions: ReadonlyArray<RoleCondition> = [
  { is: "linked" },
  { is: "unlinked" },
  asked,
  { is: "not", of: inGroup },
  { is: "all", of: [{ is: "linked" }, { is: "not", of: asked }] },
  { is: "proven" },
  inGroup,
  owner,
  age,
  { is: "all", of: [{ is: "proven" }, inGroup] },
  { is: "all", of: [{ is: "linked" }, owner, age] },
  { is: "all", of: [{ is: "linked" }, { is: "proven" }, inGroup, owner, age] },
];

const nicknames = [null, "{game.username}", "[{chat.username}] {game.username}"];

export const somePlan = (chance: Chance): PlanSettings => ({
  ...noPlan,
  rules: Array.from({ length: 1 + chance.below(5) }, () => ({
    roleId: chance.pick(ruleRoles),
    when: chance.pick(conditions),
    nickname: chance.pick(nicknames),
  })),
  nickname: chance.pick(nicknames),
  bypassRoleIds: otherRoles.filter(() => chance.happens(0.3)),
  nicknameBypassRoleIds: otherRoles.filter(() => chance.happens(0.2)),
  state: "on",
});

/** The account that a member is linked to, and whether the member has proven it. */
export interface LinkedAccount {
  readonly gameId: string;
  readonly isProven: boolean;
}

const holds = (when: RoleCondition, linked: LinkedAccount | null, held: ReadonlyArray<string>): boolean =>
  conditionsIn(when).every((condition) => {
    const met = isMet(plainOf(condition).is, linked, held);
    return condition.is === "not" ? !met : met;
  });

const isMet = (
  is: PlainCondition["is"],
  linked: LinkedAccount | null,
  held: ReadonlyArray<string>,
): boolean => {
  switch (is) {
    case "role":
      return held.includes(asked.roleId);
    case "linked":
      return linked !== null;
    case "unlinked":
      return linked === null;
    case "proven":
      return linked?.isProven === true;
    case "group":
      return linked !== null && gameUser(linked.gameId).isInGroup;
    case "owner":
      return linked !== null && gameUser(linked.gameId).item === "owned";
    case "age":
      return linked !== null && isOldGame(linked.gameId);
  }
};

/** Returns the roles and the nickname of a member, who had these roles before the plan, and no nickname. */
export const shownBy = (
  { rules, nickname, bypassRoleIds, nicknameBypassRoleIds }: PlanSettings,
  member: {
    readonly chatId: string;
    readonly held: ReadonlyArray<string>;
    readonly linked: LinkedAccount | null;
  },
): { readonly roles: ReadonlyArray<string>; readonly nickname: string | null } => {
  const { chatId, held, linked } = member;
  if (bypassRoleIds.some((id) => held.includes(id))) return { roles: held.toSorted(), nickname: null };
  const holding = rules.filter(({ when }) => holds(when, linked, held));
  const named = new Set(rules.map(({ roleId }) => roleId));
  const roles = new Set([...held.filter((id) => !named.has(id)), ...holding.map(({ roleId }) => roleId)]);
  const template = holding.find((rule) => rule.nickname !== null)?.nickname ?? nickname;
  const isRenamed = linked !== null && !nicknameBypassRoleIds.some((id) => held.includes(id));
  return {
    roles: [...roles].toSorted(),
    nickname:
      !isRenamed || template === null
        ? null
        : template
            .replace("{game.username}", `game_${linked.gameId}`)
            .replace("{chat.username}", `user_${chatId}`),
  };
};
