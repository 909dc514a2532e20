/** The rules of a plan: which roles and which nickname a member should have. */
import type { ChatId } from "../ids.ts";
import type { RoleMember } from "../platforms/chat_roles.ts";
import type { GameProfile } from "../platforms/profile.ts";
import { namesGame, nicknameOf } from "./nickname_template.ts";
import type { PlanSettings, RoleCondition } from "./role_plan.ts";

export interface MemberChanges {
  readonly chatId: ChatId;
  /** The IDs of the roles to add, in the order of the plan's rules. */
  readonly add: ReadonlyArray<string>;
  readonly remove: ReadonlyArray<string>;
  /** The nickname to set. Empty removes the nickname, null leaves it alone. */
  readonly nickname: string | null;
  /** The nickname that the plan has set: `before` the changes, and `after` them. Null if the plan has set none. */
  readonly setNickname: { readonly before: string | null; readonly after: string | null };
}

/** The linked game user. The profile is null if the user does not exist, or if the plan does not need it. */
export interface LinkedGame {
  readonly profile: GameProfile | null;
}

/** Returns whether the plan needs the profile of the linked game user. @internal */
export const needsProfile = ({ rules, nickname }: PlanSettings): boolean =>
  namesGame(nickname) || rules.some(({ when }) => when.is === "group");

/**
 * Compares a member with a plan. Returns null if the profile lacks what the rules need, because no role may be removed
 * only because the platform did not answer.
 *
 * @param game the linked game user; null if the member has no link
 * @param setNickname the nickname that the plan has set, or null
 *
 * @internal
 */
export const memberChanges = (
  plan: PlanSettings,
  member: RoleMember,
  game: LinkedGame | null,
  setNickname: string | null,
): MemberChanges | null => {
  const { chatId, roleIds, isBot } = member;
  if (isBot) return { chatId, add: [], remove: [], ...unchanged(setNickname) };
  const given = new Set<string>();
  for (const { roleId, when } of plan.rules) {
    const isMet = meets(when, game);
    if (isMet === null) return null;
    if (isMet) given.add(roleId);
  }
  const named = [...new Set(plan.rules.map(({ roleId }) => roleId))];
  return {
    chatId,
    add: named.filter((roleId) => given.has(roleId) && !roleIds.includes(roleId)),
    remove: named.filter((roleId) => !given.has(roleId) && roleIds.includes(roleId)),
    ...nicknameChange(plan, member, game, setNickname),
  };
};

/** Returns whether the condition is met; null if the platform does not report the groups or the rank. */
const meets = (when: RoleCondition, game: LinkedGame | null): boolean | null => {
  if (when.is !== "group") return (when.is === "linked") === (game !== null);
  if (game === null || game.profile === null) return false;
  const { groups } = game.profile;
  if (groups === null) return null;
  const group = groups.find(({ id }) => String(id) === when.groupId);
  if (group === undefined) return false;
  const { minRank, maxRank } = when;
  if (minRank === null && maxRank === null) return true;
  const rank = group.role?.rank ?? null;
  return rank === null ? null : rank >= (minRank ?? -Infinity) && rank <= (maxRank ?? Infinity);
};

type NicknameChange = Pick<MemberChanges, "nickname" | "setNickname">;

const unchanged = (before: string | null, after = before): NicknameChange => ({
  nickname: null,
  setNickname: { before, after },
});

const nicknameChange = (
  { nickname: template }: PlanSettings,
  member: RoleMember,
  game: LinkedGame | null,
  before: string | null,
): NicknameChange => {
  if (game === null) {
    return before !== null && member.nickname === before
      ? { nickname: "", setNickname: { before, after: null } }
      : unchanged(before, null);
  }
  const noNames = { username: null, displayName: null };
  const after =
    template === null ? null : nicknameOf(template, { game: game.profile ?? noNames, chat: member });
  if (after === null) return unchanged(before);
  return member.nickname === after
    ? unchanged(before, after)
    : { nickname: after, setNickname: { before, after } };
};
