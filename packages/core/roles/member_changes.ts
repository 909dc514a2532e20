/** The rules of a plan: which roles and which nickname a member should have. */
import type { ChatId, GameId } from "../ids.ts";
import { isOrWasLinked, type LinkProof, type LinkRecord } from "../links/mod.ts";
import type { GameGroup, GameItem, RoleMember } from "../platforms/mod.ts";
import type { Millis } from "../timestamp.ts";
import { givenNickname, isSetByPlan, shownNickname, uncertainNickname } from "./kept_nickname.ts";
import {
  namesGame,
  namesGroupRole,
  nicknameOf,
  type PlanProblem,
  type PlanSettings,
  planProblem,
  templatesOf,
} from "./role_plan.ts";
import { erasedNickname, isErasedMark } from "./role_plan_store.ts";
import { holds, itemKey, type LinkedGame, needsOf, rolesIn } from "./rule_kinds.ts";

/** What the stores know of a member. @internal */
export interface StoredMember {
  /** Null without a link. */
  readonly gameId: GameId | null;
  /** How the link was last confirmed. */
  readonly proof: LinkProof;
  /** Whether the member is or was linked in the scope of the plan. */
  readonly wasLinked: boolean;
  /** When the last link was removed; null if the member is linked or never was. */
  readonly unlinkedAt: Millis | null;
  /** The nickname that the plan set, or null. */
  readonly nickname: string | null;
  /** The roles that the rules gave for a link that an undone import made. Such a link was none. */
  readonly given: ReadonlyArray<string>;
  /** The nickname of their own that the plan replaced for such a link; undefined without one. */
  readonly own: string | null | undefined;
}

/**
 * The record of a removed link stays. Without a record, the nickname that the plan set says that the user was linked, and
 * for an erased user the mark in its place. @internal
 */
export const storedMember = (
  record: LinkRecord | null | undefined,
  nickname: string | null = null,
  given: ReadonlyArray<string> = [],
  own?: string | null,
): StoredMember => ({
  gameId: record?.gameId ?? null,
  proof: record?.proof ?? null,
  wasLinked: record ? isOrWasLinked(record) || isErasedMark(nickname) : nickname !== null,
  unlinkedAt: record?.gameId === null && isOrWasLinked(record) ? record.linkedAt : null,
  nickname,
  given,
  own,
});

/** Whether nothing but an undone import ever linked the member. @internal */
export const isUndone = (record: LinkRecord | null | undefined): boolean =>
  record !== null && record !== undefined && !isOrWasLinked(record);

export interface MemberChanges {
  readonly chatId: ChatId;
  /** The IDs of the roles to add, in the order of the plan's rules. */
  readonly add: ReadonlyArray<string>;
  readonly remove: ReadonlyArray<string>;
  /** The nickname to set. Empty removes the nickname, null leaves it alone. */
  readonly nickname: string | null;
  /** Whether that is the member's own, which the plan replaced for a link that was none. */
  readonly isOwn?: boolean;
  /** The nickname that the change replaces and that the plan has not set. Null if it replaces none of the member's own. */
  readonly replaced: { readonly nickname: string | null } | null;
  /**
   * The nickname that the plan has set: `before` the changes, and `after` them. Null if the plan has set none. `during` is
   * stored before a nickname is set, null if none is set.
   */
  readonly setNickname: Record<"before" | "during" | "after", string | null>;
  /** Whether the plan asks for an item of a private inventory. Such an item counts as missing. */
  readonly isInventoryPrivate: boolean;
  /** The roles that stay as they are because an answer about their rules is unknown; null for the nickname. */
  readonly held: ReadonlyArray<string | null>;
  /** The roles whose rules name an item that does not exist. */
  readonly withoutItem: ReadonlyArray<string>;
  /** For each rule of the plan whether it holds, null if unknown. Empty for members that the rules leave alone. */
  readonly holding: ReadonlyArray<boolean | null>;
}

/** The roles of groups' members, by the IDs of group and game user. A member may have several. @internal */
export type GroupRoles = ReadonlyMap<string, ReadonlyMap<string, ReadonlyArray<GameGroup["role"]>>>;

/** Returns whether the plan needs the age of the linked game user. @internal */
export const needsAge = (plan: Pick<PlanSettings, "rules">): boolean =>
  needsOfAll(plan).some(({ age }) => age === true);

/** Returns whether the plan needs the names or the age of the linked game user. @internal */
export const needsProfile = (plan: PlanSettings): boolean =>
  templatesOf(plan).some(namesGame) || needsAge(plan);

const needsOfAll = ({ rules }: Pick<PlanSettings, "rules">) => rules.flatMap(({ when }) => needsOf(when));

/** Returns the ID of each group in which the plan needs the role of the linked game user, once. @internal */
export const neededGroups = (plan: PlanSettings): ReadonlyArray<string> => [
  ...new Set([
    ...needsOfAll(plan).flatMap(({ groupId }) => groupId ?? []),
    ...(templatesOf(plan).some(namesGroupRole) && plan.nicknameGroupId !== null
      ? [plan.nicknameGroupId]
      : []),
  ]),
];

/** Returns each item that the rules ask for, once. @internal */
export const neededItems = (plan: PlanSettings): ReadonlyArray<GameItem> => [
  ...new Map(
    needsOfAll(plan).flatMap(({ item }) => (item === undefined ? [] : [[itemKey(item), item]])),
  ).values(),
];

/** The questions about game users: `profile`, `age`, `groups`, or the key of an item. @internal */
export type Source = string;

/** Returns the sources of a role's rules, or of the nicknames and their rules if `roleId` is null. @internal */
export const sourcesOf = (plan: PlanSettings, roleId: string | null): ReadonlyArray<Source> => {
  const needs = needsOfAll({
    rules: plan.rules.filter((rule) => (roleId === null ? rule.nickname !== null : rule.roleId === roleId)),
  });
  const templates = roleId === null ? templatesOf(plan) : [];
  return [
    ...(templates.some(namesGame) ? ["profile"] : []),
    // The age and the groups are parts of the profile.
    ...(needs.some(({ age }) => age) ? ["profile", "age"] : []),
    ...(needs.some(({ groupId }) => groupId !== undefined) || templates.some(namesGroupRole)
      ? ["profile", "groups"]
      : []),
    ...needs.flatMap(({ item }) => (item === undefined ? [] : [itemKey(item)])),
  ];
};

/** Returns the problems of the roles, and of the nicknames, whose sources are closed. @internal */
export const closedProblems = (
  plan: PlanSettings,
  closed: ReadonlySet<Source>,
  at: Millis,
): ReadonlyArray<PlanProblem> =>
  [null, ...new Set(plan.rules.map(({ roleId }) => roleId))]
    .filter((roleId) => sourcesOf(plan, roleId).some((source) => closed.has(source)))
    .map((roleId) => planProblem("source_closed", at, roleId));

/** Returns whether the plan leaves the member alone: a bot, or a member with a bypass role. @internal */
export const isLeftAlone = ({ bypassRoleIds }: PlanSettings, { isBot, roleIds }: RoleMember): boolean =>
  isBot || bypassRoleIds.some((roleId) => roleIds.includes(roleId));

/**
 * Compares a member with a plan. A role whose rules have no answer is held: nobody gains or loses it only because the
 * platform did not answer. A plan may keep the roles of members who were never linked, because another service may have
 * given them.
 *
 * @param game the linked game user; null if the member has no link
 * @param at the time of the comparison
 * @internal
 */
export const memberChanges = (
  plan: PlanSettings,
  member: RoleMember,
  game: LinkedGame | null,
  {
    wasLinked,
    unlinkedAt,
    nickname: setNickname,
    given: byUndone = [],
    own,
  }: Pick<StoredMember, "wasLinked" | "unlinkedAt" | "nickname"> &
    Partial<Pick<StoredMember, "given" | "own">>,
  at: Millis,
): MemberChanges => {
  const { chatId, roleIds } = member;
  const isInventoryPrivate = game !== null && [...game.items.values()].includes("private");
  if (isLeftAlone(plan, member)) {
    const left = { add: [], remove: [], held: [], withoutItem: [], holding: [] };
    return { chatId, ...left, ...unchanged(setNickname), isInventoryPrivate };
  }
  const [given, unknown] = [new Set<string>(), new Set<string>()];
  const holding = plan.rules.map(({ when }) => holds(when, { game, member, unlinkedAt, at }));
  for (const [index, { roleId }] of plan.rules.entries()) {
    if (holding[index] === null) unknown.add(roleId);
    else if (holding[index] === true) given.add(roleId);
  }
  const renamed = nicknameChange(plan, member, game, { before: setNickname, own }, holding);
  const named = [...new Set(plan.rules.map(({ roleId }) => roleId))];
  const mayLose = plan.unlinked === "remove" || game !== null || wasLinked;
  // One rule that holds is enough, whatever is unknown about the others.
  const held = named.filter((roleId) => unknown.has(roleId) && !given.has(roleId));
  const hasNoItem = ({ when }: PlanSettings["rules"][number]) =>
    needsOf(when).some(({ item }) => item !== undefined && game?.items.get(itemKey(item)) === "no_item");
  return {
    chatId,
    add: named.filter((roleId) => given.has(roleId) && !roleIds.includes(roleId)),
    remove: named.filter(
      (roleId) =>
        (mayLose || byUndone.includes(roleId)) &&
        !given.has(roleId) &&
        !unknown.has(roleId) &&
        roleIds.includes(roleId),
    ),
    ...(renamed ?? unchanged(setNickname)),
    isInventoryPrivate,
    held: renamed === null ? [...held, null] : held,
    withoutItem: [...new Set(plan.rules.filter(hasNoItem).map(({ roleId }) => roleId))],
    holding,
  };
};

type NicknameChange = Pick<MemberChanges, "nickname" | "isOwn" | "replaced" | "setNickname">;

interface NicknamesBefore extends Pick<StoredMember, "own"> {
  /** The nickname that the plan set, or null. */
  readonly before: string | null;
}

const unchanged = (before: string | null, after = before): NicknameChange => ({
  nickname: null,
  replaced: null,
  setNickname: { before, during: null, after },
});

/** Removes the nickname of a member who gets none if the plan set it, and puts back what it replaced for no link. */
const nicknameRemoval = ({ nickname }: RoleMember, { before, own }: NicknamesBefore): NicknameChange =>
  nickname !== null && before !== null && (isSetByPlan(before, nickname) || before === erasedNickname)
    ? {
        nickname: own ?? "",
        isOwn: own !== undefined,
        replaced: null,
        setNickname: { before, during: null, after: null },
      }
    : unchanged(before, null);

const noNames = { username: null, displayName: null };

/**
 * Returns the template for a linked member: of the first rule that holds and has one, or else the plan's. Undefined if
 * it is unknown whether an earlier rule holds.
 */
const templateFor = (
  { rules, nickname }: PlanSettings,
  holding: MemberChanges["holding"],
): string | null | undefined => {
  const first = rules.findIndex((rule, index) => rule.nickname !== null && holding[index] !== false);
  if (first === -1) return nickname;
  return holding[first] === null ? undefined : rules[first]?.nickname;
};

/** Returns the change of the nickname; null if the template, or what it needs, is unknown. */
const nicknameChange = (
  plan: PlanSettings,
  member: RoleMember,
  game: LinkedGame | null,
  nicknames: NicknamesBefore,
  holding: MemberChanges["holding"],
): NicknameChange | null => {
  const { before } = nicknames;
  if (plan.nicknameBypassRoleIds.some((roleId) => member.roleIds.includes(roleId))) return unchanged(before);
  if (game === null) return nicknameRemoval(member, nicknames);
  const template = templateFor(plan, holding);
  if (template === undefined) return null;
  // A rule that no longer holds takes its nickname along. A plan without any template leaves nicknames alone.
  if (template === null)
    return templatesOf(plan).length === 0 ? unchanged(before) : nicknameRemoval(member, nicknames);
  const names = namesFor(template, plan, member, game);
  if (names === null) return null;
  const after = nicknameOf(template, names);
  return after === null ? unchanged(before) : renaming(member, before, after);
};

/** Returns the names in a template; null if one of them is unknown. */
const namesFor = (
  template: string,
  { nicknameGroupId }: PlanSettings,
  chat: RoleMember,
  game: LinkedGame,
): Parameters<typeof nicknameOf>[1] | null => {
  const groupRoles = namesGroupRole(template) ? rolesIn(game, nicknameGroupId ?? "") : [];
  // Of several roles, one without a rank may be the highest.
  const isUnknown =
    groupRoles === null || (groupRoles.length > 1 && groupRoles.some((role) => !isRanked(role)));
  if (isUnknown || (namesGame(template) && game.profile === undefined)) return null;
  const [highest] = groupRoles.toSorted((one, other) => (other?.rank ?? 0) - (one?.rank ?? 0));
  return { game: game.profile ?? noNames, chat, groupRole: highest?.name ?? "" };
};

const isRanked = (role: GameGroup["role"]): boolean => typeof role?.rank === "number";

/** Sets a nickname, unless the member has it, or has what the platform keeps of it. */
const renaming = (member: RoleMember, before: string | null, after: string): NicknameChange => {
  if (member.nickname === after) return unchanged(before, after);
  const isKept =
    before !== null && givenNickname(before) === after && member.nickname === shownNickname(before);
  if (isKept) return unchanged(before);
  const isOwn = before === null || !isSetByPlan(before, member.nickname);
  const replaced = isOwn ? { nickname: member.nickname } : null;
  const during = uncertainNickname(after, isOwn ? null : member.nickname);
  return { nickname: after, replaced, setNickname: { before, during, after } };
};
