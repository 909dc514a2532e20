/** The rules of a plan: which roles and which nickname a member should have. */
import type { ChatId } from "../ids.ts";
import type { RoleMember } from "../platforms/chat_platform.ts";
import type { GameItem } from "../platforms/game_platform.ts";
import type { GameGroup } from "../platforms/profile.ts";
import type { PlanSettings } from "./role_plan.ts";
import { namesGame, namesGroupRole, nicknameOf } from "./role_plan.ts";
import { erasedNickname } from "./role_plan_store.ts";
import { groupIn, holds, itemKey, type LinkedGame, needsOf } from "./rule_kinds.ts";

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

/** Returns whether the plan needs the names or the age of the linked game user. @internal */
export const needsProfile = ({ rules, nickname }: PlanSettings): boolean =>
  namesGame(nickname) || rules.some(({ when }) => needsOf(when).profile === true);

/** Returns the ID of each group in which the plan needs the role of the linked game user, once. @internal */
export const neededGroups = ({ rules, nickname, nicknameGroupId }: PlanSettings): ReadonlyArray<string> => [
  ...new Set([
    ...rules.flatMap(({ when }) => needsOf(when).groupId ?? []),
    ...(namesGroupRole(nickname) && nicknameGroupId !== null ? [nicknameGroupId] : []),
  ]),
];

/** Returns each item that the rules ask for, once. @internal */
export const neededItems = ({ rules }: PlanSettings): ReadonlyArray<GameItem> => [
  ...new Map(
    rules.flatMap(({ when }) => {
      const { item } = needsOf(when);
      return item === undefined ? [] : [[itemKey(item), item]];
    }),
  ).values(),
];

/**
 * Returns whether the plan leaves the member alone: a bot, a member with the plan's bypass role, or a member without a
 * link if those are kept as they are. @internal
 */
export const isLeftAlone = (
  { bypassRoleId, unlinked }: PlanSettings,
  { isBot, roleIds }: RoleMember,
  isLinked: boolean,
): boolean =>
  isBot || (bypassRoleId !== null && roleIds.includes(bypassRoleId)) || (!isLinked && unlinked === "keep");

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
  if (isLeftAlone(plan, member, game !== null)) {
    return { chatId, add: [], remove: [], ...unchanged(setNickname), isInventoryPrivate };
  }
  const given = new Set<string>();
  for (const { roleId, when } of plan.rules) {
    const isMet = holds(when, game);
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
