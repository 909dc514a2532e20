/** The rules of a plan: which roles and which nickname a member should have. */
import type { ChatId } from "../ids.ts";
import type { RoleMember } from "../platforms/chat_platform.ts";
import type { GameItem, ItemOwnership } from "../platforms/game_platform.ts";
import type { GameGroup, GameProfile } from "../platforms/profile.ts";
import { dayMs, type Millis } from "../timestamp.ts";
import type { PlanSettings, RoleCondition } from "./role_plan.ts";
import { namesGame, namesGroupRole, nicknameOf } from "./role_plan.ts";
import { erasedNickname } from "./role_plan_store.ts";

export interface MemberChanges {
  readonly chatId: ChatId;
  /** The IDs of the roles to add, in the order of the plan's rules. */
  readonly add: ReadonlyArray<string>;
  readonly remove: ReadonlyArray<string>;
  /** The nickname to set. Empty removes the nickname, null leaves it alone. */
  readonly nickname: string | null;
  /** The nickname that the plan has set: `before` the changes, and `after` them. Null if the plan has set none. */
  readonly setNickname: { readonly before: string | null; readonly after: string | null };
  /** Whether the plan asks for an item of a private inventory. Such an item counts as missing. */
  readonly isInventoryPrivate: boolean;
}

/** The roles of groups' members, by the IDs of group and game user. @internal */
export type GroupRoles = ReadonlyMap<string, ReadonlyMap<string, GameGroup["role"]>>;

/** The linked game user, as far as the plan needs it. */
export interface LinkedGame {
  /** Null if the user does not exist, or if the plan does not need the profile. */
  readonly profile: GameProfile | null;
  /** Includes the groups that the plan names; null if the platform does not report groups. */
  readonly groups: ReadonlyArray<Pick<GameGroup, "id" | "role">> | null;
  /** Whether the user has each of the plan's items, by `itemKey`. */
  readonly items: ReadonlyMap<string, ItemOwnership>;
  /** The time of the comparison, from which the age of the account follows. */
  readonly at: Millis;
}

/** Identifies an item in `LinkedGame.items`. @internal */
export const itemKey = ({ item, itemId }: GameItem): string => `${item} ${itemId}`;

/** Returns whether the plan needs the names or the age of the linked game user. @internal */
export const needsProfile = ({ rules, nickname }: PlanSettings): boolean =>
  namesGame(nickname) || rules.some(({ when }) => when.is === "age");

/** Returns the ID of each group in which the plan needs the role of the linked game user, once. @internal */
export const neededGroups = ({ rules, nickname, nicknameGroupId }: PlanSettings): ReadonlyArray<string> => [
  ...new Set([
    ...rules.flatMap(({ when }) => (when.is === "group" ? [when.groupId] : [])),
    ...(namesGroupRole(nickname) && nicknameGroupId !== null ? [nicknameGroupId] : []),
  ]),
];

/** Returns each item that the rules ask for, once. @internal */
export const neededItems = ({ rules }: PlanSettings): ReadonlyArray<GameItem> => [
  ...new Map(rules.flatMap(({ when }) => (when.is === "owner" ? [[itemKey(when), when]] : []))).values(),
];

/** Returns whether the plan leaves the member alone: a bot, or a member with the plan's bypass role. @internal */
export const isLeftAlone = ({ bypassRoleId }: PlanSettings, { isBot, roleIds }: RoleMember): boolean =>
  isBot || (bypassRoleId !== null && roleIds.includes(bypassRoleId));

/**
 * Compares a member with a plan. Returns null if the profile lacks what the plan needs, because no role may be removed
 * only because the platform did not answer.
 *
 * @param game the linked game user; null if the member has no link
 * @param setNickname the nickname that the plan has set, or null
 * @internal
 */
export const memberChanges = (
  plan: PlanSettings,
  member: RoleMember,
  game: LinkedGame | null,
  setNickname: string | null,
): MemberChanges | null => {
  const { chatId, roleIds } = member;
  const isInventoryPrivate = game !== null && [...game.items.values()].includes("private");
  if (isLeftAlone(plan, member)) {
    return { chatId, add: [], remove: [], ...unchanged(setNickname), isInventoryPrivate };
  }
  const given = new Set<string>();
  for (const { roleId, when } of plan.rules) {
    const isMet = meets(when, game);
    if (isMet === null) return null;
    if (isMet) given.add(roleId);
  }
  const renamed = nicknameChange(plan, member, game, setNickname);
  if (renamed === null) return null;
  const named = [...new Set(plan.rules.map(({ roleId }) => roleId))];
  return {
    chatId,
    add: named.filter((roleId) => given.has(roleId) && !roleIds.includes(roleId)),
    remove: named.filter((roleId) => !given.has(roleId) && roleIds.includes(roleId)),
    ...renamed,
    isInventoryPrivate,
  };
};

/** Returns whether the condition is met; null if the platform does not report the groups or the rank. */
const meets = (when: RoleCondition, game: LinkedGame | null): boolean | null => {
  if (when.is === "linked") return game !== null;
  if (when.is === "unlinked") return game === null;
  if (game === null) return false;
  if (when.is === "owner") return game.items.get(itemKey(when)) === "owned";
  return when.is === "age" ? isOlderThan(game, when.minDays) : isRanked(game, when);
};

const isRanked = (
  game: LinkedGame,
  { groupId, minRank, maxRank }: Extract<RoleCondition, { readonly is: "group" }>,
): boolean | null => {
  const group = groupIn(game, groupId);
  if (group === null) return null;
  if (group === undefined) return false;
  if (minRank === null && maxRank === null) return true;
  const rank = group.role?.rank ?? null;
  return rank === null ? null : rank >= (minRank ?? -Infinity) && rank <= (maxRank ?? Infinity);
};

/** Returns whether the account is old enough. An account whose creation the platform does not tell is not. */
const isOlderThan = ({ profile, at }: LinkedGame, days: number): boolean =>
  profile !== null && profile.created !== null && at - Date.parse(profile.created) >= days * dayMs;

/** Returns the user's membership in a group; undefined without one, null if the platform does not report groups. */
const groupIn = ({ groups }: LinkedGame, groupId: string): Pick<GameGroup, "role"> | null | undefined =>
  groups === null ? null : groups.find(({ id }) => String(id) === groupId);

type NicknameChange = Pick<MemberChanges, "nickname" | "setNickname">;

const unchanged = (before: string | null, after = before): NicknameChange => ({
  nickname: null,
  setNickname: { before, after },
});

/** Removes the nickname of an unlinked member if the plan set it. */
const nicknameRemoval = ({ nickname }: RoleMember, before: string | null): NicknameChange =>
  nickname !== null && (nickname === before || before === erasedNickname)
    ? { nickname: "", setNickname: { before, after: null } }
    : unchanged(before, null);

const noNames = { username: null, displayName: null };

/** Returns the change of the nickname; null if the platform does not report the groups that the template needs. */
const nicknameChange = (
  { nickname: template, nicknameGroupId }: PlanSettings,
  member: RoleMember,
  game: LinkedGame | null,
  before: string | null,
): NicknameChange | null => {
  if (game === null) return nicknameRemoval(member, before);
  const group = namesGroupRole(template) ? groupIn(game, nicknameGroupId ?? "") : undefined;
  if (group === null) return null;
  const names = { game: game.profile ?? noNames, chat: member, groupRole: group?.role?.name ?? "" };
  const after = template === null ? null : nicknameOf(template, names);
  if (after === null) return unchanged(before);
  return member.nickname === after
    ? unchanged(before, after)
    : { nickname: after, setNickname: { before, after } };
};
