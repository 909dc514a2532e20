/** The rules of a plan: which roles and which nickname a member should have. */
import type { ChatId, GameId } from "../ids.ts";
import type { LinkRecord } from "../links/link.ts";
import type { RoleMember } from "../platforms/chat_platform.ts";
import type { GameItem } from "../platforms/game_platform.ts";
import type { GameGroup } from "../platforms/profile.ts";
import { givenNickname, shownNickname } from "./kept_nickname.ts";
import { namesGame, namesGroupRole, nicknameOf, type PlanSettings } from "./role_plan.ts";
import { erasedNickname } from "./role_plan_store.ts";
import { groupIn, holds, itemKey, type LinkedGame, needsOf } from "./rule_kinds.ts";

/** What the stores know of a member. @internal */
export interface StoredMember {
  /** Null without a link. */
  readonly gameId: GameId | null;
  /** Whether the member is or was linked in the scope of the plan. */
  readonly wasLinked: boolean;
  /** The nickname that the plan set, or null. */
  readonly nickname: string | null;
}

/**
 * The record of a removed link stays, so a member with a record was linked. Of an erased user, the mark in place of the
 * nickname is left. @internal
 */
export const storedMember = (
  record: LinkRecord | null | undefined,
  nickname: string | null = null,
): StoredMember => ({
  gameId: record?.gameId ?? null,
  wasLinked: (record ?? null) !== null || nickname !== null,
  nickname,
});

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
  /** The roles that stay as they are because an answer about their rules is unknown; null for the nickname. */
  readonly held: ReadonlyArray<string | null>;
  /** The roles whose rules name an item that does not exist. */
  readonly withoutItem: ReadonlyArray<string>;
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

/** The questions about game users: `profile`, `groups`, or the key of an item. @internal */
export type Source = string;

/** Returns the sources of a role's rules, or of the nickname if `roleId` is null. @internal */
export const sourcesOf = (
  { rules, nickname }: PlanSettings,
  roleId: string | null,
): ReadonlyArray<Source> => {
  const named = roleId === null ? [] : rules.filter((rule) => rule.roleId === roleId);
  const needs = named.map(({ when }) => needsOf(when));
  const ofName = roleId === null ? nickname : null;
  return [
    ...(needs.some(({ profile }) => profile) || namesGame(ofName) ? ["profile"] : []),
    // The groups are parts of the profile.
    ...(needs.some(({ groupId }) => groupId !== undefined) || namesGroupRole(ofName)
      ? ["profile", "groups"]
      : []),
    ...needs.flatMap(({ item }) => (item === undefined ? [] : [itemKey(item)])),
  ];
};

/** Returns whether the plan leaves the member alone: a bot, or a member with the plan's bypass role. @internal */
export const isLeftAlone = ({ bypassRoleId }: PlanSettings, { isBot, roleIds }: RoleMember): boolean =>
  isBot || (bypassRoleId !== null && roleIds.includes(bypassRoleId));

/**
 * Compares a member with a plan. A role whose rules have no answer is held: nobody gains or loses it only because the
 * platform did not answer. A plan may keep the roles of members who were never linked, because another service may have
 * given them.
 *
 * @param game the linked game user; null if the member has no link
 * @internal
 */
export const memberChanges = (
  plan: PlanSettings,
  member: RoleMember,
  game: LinkedGame | null,
  { wasLinked, nickname: setNickname }: Pick<StoredMember, "wasLinked" | "nickname">,
): MemberChanges => {
  const { chatId, roleIds } = member;
  const isInventoryPrivate = game !== null && [...game.items.values()].includes("private");
  if (isLeftAlone(plan, member)) {
    const left = { add: [], remove: [], held: [], withoutItem: [] };
    return { chatId, ...left, ...unchanged(setNickname), isInventoryPrivate };
  }
  const [given, unknown] = [new Set<string>(), new Set<string>()];
  for (const { roleId, when } of plan.rules) {
    const isMet = holds(when, game);
    if (isMet === null) unknown.add(roleId);
    else if (isMet) given.add(roleId);
  }
  const renamed = nicknameChange(plan, member, game, setNickname);
  const named = [...new Set(plan.rules.map(({ roleId }) => roleId))];
  const mayLose = plan.unlinked === "remove" || game !== null || wasLinked;
  // One rule that holds is enough, whatever is unknown about the others.
  const held = named.filter((roleId) => unknown.has(roleId) && !given.has(roleId));
  const hasNoItem = ({ when }: PlanSettings["rules"][number]) => {
    const { item } = needsOf(when);
    return item !== undefined && game?.items.get(itemKey(item)) === "no_item";
  };
  return {
    chatId,
    add: named.filter((roleId) => given.has(roleId) && !roleIds.includes(roleId)),
    remove: named.filter(
      (roleId) => mayLose && !given.has(roleId) && !unknown.has(roleId) && roleIds.includes(roleId),
    ),
    ...(renamed ?? unchanged(setNickname)),
    isInventoryPrivate,
    held: renamed === null ? [...held, null] : held,
    withoutItem: [...new Set(plan.rules.filter(hasNoItem).map(({ roleId }) => roleId))],
  };
};

type NicknameChange = Pick<MemberChanges, "nickname" | "setNickname">;

const unchanged = (before: string | null, after = before): NicknameChange => ({
  nickname: null,
  setNickname: { before, after },
});

/** Removes the nickname of an unlinked member if the plan set it. */
const nicknameRemoval = ({ nickname }: RoleMember, before: string | null): NicknameChange =>
  nickname !== null && before !== null && (nickname === shownNickname(before) || before === erasedNickname)
    ? { nickname: "", setNickname: { before, after: null } }
    : unchanged(before, null);

const noNames = { username: null, displayName: null };

/** Returns the change of the nickname; null if what the template needs is unknown. */
const nicknameChange = (
  { nickname: template, nicknameGroupId }: PlanSettings,
  member: RoleMember,
  game: LinkedGame | null,
  before: string | null,
): NicknameChange | null => {
  if (game === null) return nicknameRemoval(member, before);
  const group = namesGroupRole(template) ? groupIn(game, nicknameGroupId ?? "") : undefined;
  if (group === null || (namesGame(template) && game.profile === undefined)) return null;
  const names = { game: game.profile ?? noNames, chat: member, groupRole: group?.role?.name ?? "" };
  const after = template === null ? null : nicknameOf(template, names);
  if (after === null) return unchanged(before);
  return renaming(member, before, after);
};

/** Sets a nickname, unless the member has it, or has what the platform keeps of it. */
const renaming = (member: RoleMember, before: string | null, after: string): NicknameChange => {
  if (member.nickname === after) return unchanged(before, after);
  const isKept =
    before !== null && givenNickname(before) === after && member.nickname === shownNickname(before);
  return isKept ? unchanged(before) : { nickname: after, setNickname: { before, after } };
};
