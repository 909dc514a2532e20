/** A role plan gives the members of a guild roles and nicknames that depend on the links of a scope. */
import { Effect, Hash, Order, Record, Schema, Struct } from "effect";
import { type AuditEntry, changeDetails } from "../audit/audit.ts";
import type { CommunityUpdate, ScopedGuild } from "../communities/community.ts";
import { type ChatId, Digits, type GuildId } from "../ids.ts";
import { expectedNameText, isNameText, toNameText } from "../name_text.ts";
import type { RoleRefused } from "../platforms/chat_platform.ts";
import { chosen, schemasOf, setting, storedSchemasOf, unsetOf } from "../settings.ts";
import type { Millis } from "../timestamp.ts";
import { RoleCondition } from "./rule_kinds.ts";

const longestTemplate = 100;
const longestNickname = 32;

const groupRole = "{group.role}";

/** The names of a member on both platforms. Unavailable names are null. */
export interface MemberNames {
  readonly game: { readonly username: string | null; readonly displayName: string | null };
  readonly chat: { readonly username: string | null; readonly displayName: string | null };
  /** The name of the member's rank in the plan's group; empty outside of the group. */
  readonly groupRole: string;
}

// A user without a display name is named by the user name, as on the platforms.
const placeholders: Readonly<Record<string, (names: MemberNames) => string | null>> = {
  "{game.username}": ({ game }) => game.username,
  "{game.displayName}": ({ game }) => game.displayName ?? game.username,
  "{chat.username}": ({ chat }) => chat.username,
  "{chat.displayName}": ({ chat }) => chat.displayName ?? chat.username,
  [groupRole]: (names) => names.groupRole,
};

const placeholderPattern = /\{[^{}]*\}/gu;

/** A rank in brackets, which are left out with it. */
const bracketedRank = /\[\{group\.role\}\]|\(\{group\.role\}\)/gu;

const form = `1 to ${longestTemplate} characters with at least one of ${Object.keys(placeholders).join(", ")}; ${expectedNameText}`;

/** A nickname without a placeholder would be the same for all members. */
const isTemplate = (text: string): boolean => {
  const named = [...text.matchAll(placeholderPattern)];
  return (
    isNameText(text) &&
    named.length > 0 &&
    named.every(([placeholder]) => Object.hasOwn(placeholders, placeholder))
  );
};

/** The schema of a nickname template, such as `{game.username}`. @internal */
export const NicknameTemplate = Schema.String.check(
  Schema.isMaxCodePoints(longestTemplate),
  Schema.makeFilter(isTemplate, { expected: form }),
);

/** Returns whether a template needs the profile of the game user. @internal */
export const namesGame = (template: string | null): boolean => template?.includes("{game.") === true;

/** Returns whether a template needs the rank of the game user in a group. @internal */
export const namesGroupRole = (template: string | null): boolean => template?.includes(groupRole) === true;

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Cuts a text to 32 UTF-16 units, as the platform counts, and never inside of what readers see as one character. */
const cutNickname = (text: string): string => {
  if (text.length <= longestNickname) return text;
  let end = 0;
  for (const { index, segment } of graphemes.segment(text)) {
    if (index + segment.length > longestNickname) break;
    end = index + segment.length;
  }
  return text.slice(0, end);
};

/**
 * Fills in a template and cuts the result to 32 UTF-16 units. Null if a name is unavailable or nothing is left.
 * @internal
 */
export const nicknameOf = (template: string, names: MemberNames): string | null => {
  let isComplete = true;
  const shown = names.groupRole === "" ? template.replaceAll(bracketedRank, "") : template;
  const filled = shown.replaceAll(placeholderPattern, (placeholder) => {
    const name = placeholders[placeholder]?.(names) ?? null;
    if (name === null) isComplete = false;
    return name ?? "";
  });
  const text = toNameText(filled.replaceAll(/\s+/gu, " ")).trim();
  const cut = cutNickname(text).trim();
  return isComplete && cut !== "" ? cut : null;
};

/**
 * A role, the members who get it, and the template of their nickname. A linked member has the nickname of the first rule
 * that holds and has one, or else the plan's.
 *
 * @example
 * ```ts
 * import { Schema } from "effect";
 *
 * const ofGroup = { is: "group", groupId: "9", minRank: 100 };
 * const { when } = Schema.decodeUnknownSync(RoleRule)({ roleId: "1", when: ofGroup });
 * when; // { is: "group", groupId: "9", minRank: 100, maxRank: null }
 * Schema.is(RoleCondition)({ is: "linked" }); // true
 * Schema.is(RoleRules)(noPlan.rules); // true
 * [mostRules, shownProblems]; // [50, 50]
 * ```
 */
export const RoleRule = Schema.Struct({
  roleId: Digits,
  when: RoleCondition,
  nickname: Schema.NullOr(NicknameTemplate).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed(null))),
}).annotate({ identifier: "RoleRule" });
export type RoleRule = typeof RoleRule.Type;

/** The most rules of a plan. @internal */
export const mostRules = 50;

/** @internal */
export const RoleRules = Schema.Array(RoleRule).check(Schema.isMaxLength(mostRules));

/** The most roles of members to leave alone. */
const mostBypassRoles = 10;

/** @internal */
export const TakenRoles = Schema.Array(Digits).check(Schema.isMaxLength(mostRules));

const bypassRoles = (whose: string) =>
  setting(
    Schema.Array(Digits).check(Schema.isMaxLength(mostBypassRoles)),
    [],
    {
      is: "roles",
      most: mostBypassRoles,
      text: `expected a list of at most ${mostBypassRoles} IDs of roles`,
    },
    `At most ${mostBypassRoles} roles; ${whose} with one of them are left alone`,
  );

/** @internal */
export const unlinkedChoices = ["remove", "keep"] as const;

/** The rows of `PlanSettings`. @internal */
export const planSettings = {
  rules: setting(
    RoleRules,
    [],
    {
      is: "rules",
      most: mostRules,
      text: `expected a list of at most ${mostRules} rules such as {"roleId": "1", "when": {"is": "linked"}}`,
    },
    `At most ${mostRules} rules, each with a role, the members who get it, and their nickname or null`,
  ),
  nickname: chosen(
    NicknameTemplate,
    { is: "nickname", text: `expected null or ${form}` },
    "Nickname of linked members without one by a rule, such as `{game.username}`; null leaves nicknames alone",
  ),
  /** Null unless the template has the placeholder. */
  nicknameGroupId: chosen(
    Digits,
    { is: "choice", text: "expected null or the ID of a group" },
    "The group whose rank `{group.role}` names, or null",
  ),
  bypassRoleIds: bypassRoles("members"),
  nicknameBypassRoleIds: bypassRoles("the nicknames of members"),
  unlinked: setting(
    Schema.Literals(unlinkedChoices),
    "remove",
    { is: "choice", text: "expected remove or keep" },
    "Whether members who were never linked lose the roles that no rule gives them (the default), or keep them",
  ),
  /** Whether linking is on in the community, which says who paused it. */
  state: setting(
    Schema.Literals(["on", "paused"]),
    "paused",
    { is: "choice", text: "expected on or paused" },
    "Whether the plan changes members; a paused plan changes nothing",
  ),
};

/** The settings that an owner chooses. @internal */
export const PlanSettings = Schema.Struct({
  ...storedSchemasOf(planSettings),
  ...Struct.pick(schemasOf(planSettings), ["rules", "nickname", "state"]),
});
export type PlanSettings = typeof PlanSettings.Type;

export type PlanState = PlanSettings["state"];

/**
 * The settings of a plan to store. A group or a nickname of a rule that is left out is null, `unlinked` is `remove`, and
 * no role is a bypass role. Settings of the community may be changed with them.
 */
export type ChosenSettings = Pick<PlanSettings, "nickname" | "state"> &
  Partial<Omit<PlanSettings, "rules">> &
  CommunityUpdate & {
    readonly rules: ReadonlyArray<Pick<RoleRule, "roleId" | "when"> & Partial<Pick<RoleRule, "nickname">>>;
    /** Roles that the rules name no more, to take from the members who have them by the rules. */
    readonly take?: ReadonlyArray<string>;
  };

/** The settings of a guild without a plan. @internal */
export const noPlan: PlanSettings = unsetOf(planSettings);

/** Returns whether a plan gives roles or nicknames. @internal */
export const givesSomething = ({ rules, nickname }: Pick<PlanSettings, "rules" | "nickname">): boolean =>
  rules.length > 0 || nickname !== null;

/** Returns the templates of a plan and of its rules. @internal */
export const templatesOf = ({
  nickname,
  rules,
}: Pick<PlanSettings, "nickname" | "rules">): ReadonlyArray<string> =>
  [nickname, ...rules.map((rule) => rule.nickname)].filter((template) => template !== null);

/** Returns whether a template of the plan names the rank in a group, and the plan names no group. @internal */
export const lacksNicknameGroup = (
  plan: Pick<PlanSettings, "nickname" | "rules" | "nicknameGroupId">,
): boolean => plan.nicknameGroupId === null && templatesOf(plan).some(namesGroupRole);

/** @internal */
export const settingNames = Struct.keys(PlanSettings.fields);

/** Returns the names of the settings that differ. @internal */
export const changedSettings = (
  before: PlanSettings,
  after: PlanSettings,
): ReadonlyArray<keyof PlanSettings> =>
  settingNames.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));

/** Returns whether settings were read before, and others than these and the wanted ones are stored by now. @internal */
export const isChangedSince = (
  edited: PlanSettings | undefined,
  stored: PlanSettings,
  wanted: PlanSettings,
): boolean =>
  edited !== undefined &&
  changedSettings(edited, stored).length > 0 &&
  changedSettings(stored, wanted).length > 0;

/** Identifies the settings of a plan, so that an editor finds out if others have changed them meanwhile. @internal */
export const planVersion = (plan: PlanSettings): string =>
  String(Hash.string(JSON.stringify(settingNames.map((name) => plan[name]))));

/** Returns the details of the audit entry for a change of a plan. @internal */
export const planEntryDetails = (
  { guildId }: { readonly guildId: GuildId },
  before: PlanSettings,
  after: PlanSettings = before,
): AuditEntry["details"] => {
  const changed = changedSettings(before, after);
  const { state } = after;
  if (changed.length === 0) return { guildId, state };
  const shown = changed.filter((name) => name !== "rules");
  return {
    guildId,
    state,
    changed: changed.join(", "),
    ...(changed.includes("rules") ? ruleDetails(before.rules, after.rules) : {}),
    ...changeDetails(textsOf(before), textsOf(after), shown),
  };
};

const textsOf = ({ bypassRoleIds, nicknameBypassRoleIds, ...plan }: PlanSettings) => ({
  ...plan,
  bypassRoleIds: bypassRoleIds.join(", "),
  nicknameBypassRoleIds: nicknameBypassRoleIds.join(", "),
});

/** Lists the roles that rules begin or end to give, and the roles whose rules changed. */
const ruleDetails = (
  before: ReadonlyArray<RoleRule>,
  after: ReadonlyArray<RoleRule>,
): AuditEntry["details"] => {
  const conditionsOf = (rules: ReadonlyArray<RoleRule>, roleId: string) =>
    JSON.stringify(
      rules.filter((rule) => rule.roleId === roleId).map(({ when, nickname }) => [when, nickname]),
    );
  const [old, now] = [before, after].map((rules) => new Set(rules.map(({ roleId }) => roleId)));
  const roles = {
    rolesAdded: [...(now ?? [])].filter((roleId) => !old?.has(roleId)),
    rolesRemoved: [...(old ?? [])].filter((roleId) => !now?.has(roleId)),
    rolesChanged: [...(now ?? [])].filter(
      (roleId) => old?.has(roleId) && conditionsOf(before, roleId) !== conditionsOf(after, roleId),
    ),
  };
  return Record.map(
    Record.filter(roles, (ids) => ids.length > 0),
    (ids) => ids.join(", "),
  );
};

/** A plan is identified by its scope and guild. */
export interface RolePlan extends ScopedGuild, PlanSettings {}

/**
 * Why a plan cannot be applied as a whole, so that its problem names no member: a rule's item does not exist, the game
 * platform does not answer a rule's question, the chat platform does not list the members, most of those who have a role
 * would lose it, the log channel is gone or closed to the bot, the chat platform refuses reminders, or reminders of
 * other communities hold them back. @internal
 */
export const planProblems = [
  "item_unknown",
  "source_closed",
  "members_hidden",
  "many_would_lose",
  "log_channel_closed",
  "reminders_refused",
  "reminders_held",
] as const;

export interface PlanProblem {
  /** Null if the problem concerns the plan. */
  readonly chatId: ChatId | null;
  /** The role that the problem concerns; null if the problem concerns nicknames or all members. */
  readonly roleId: string | null;
  readonly reason: RoleRefused["reason"] | (typeof planProblems)[number];
  readonly at: Millis;
}

/** Makes a problem that concerns no member alone. @internal */
export const planProblem = (
  reason: PlanProblem["reason"],
  at: Millis,
  roleId: string | null = null,
): PlanProblem => ({ chatId: null, roleId, reason, at });

/** The problems of one cause and role, with the member and the time of the newest. */
export interface SharedProblem extends PlanProblem {
  /** How many members have it. */
  readonly count: number;
  /** Some of these members, newest problems first. */
  readonly chatIds: ReadonlyArray<ChatId>;
}

/** Returns the problem of a closed log channel, if it is closed. @internal */
export const logProblems = (closedAt: Millis | null): ReadonlyArray<SharedProblem> =>
  closedAt === null ? [] : [{ ...planProblem("log_channel_closed", closedAt), count: 0, chatIds: [] }];

/** The maximum number of problems that the status of a plan lists. @internal */
export const shownProblems = 50;

/** The maximum number of members that a listed problem names. @internal */
export const namedMembers = 20;

/** Sorts problems: the newest first, then by cause and role. @internal */
export const problemOrder = (one: PlanProblem, other: PlanProblem): number =>
  other.at - one.at ||
  Order.String(one.reason, other.reason) ||
  Order.String(one.roleId ?? "", other.roleId ?? "");

/** The progress of a sweep, which compares every member of the guild with the plan. */
export interface Sweep {
  /** The member that was compared last; null if no member has been compared yet. */
  readonly after: ChatId | null;
  readonly done: number;
  readonly total: number;
}

export interface PlanStatus {
  /** How many members wait to be compared with the plan. */
  readonly pending: number;
  /** When the last sweep ended, or null. */
  readonly sweptAt: Millis | null;
  readonly sweep: Sweep | null;
  /** One for each cause and role, newest first, at most 50. */
  readonly problems: ReadonlyArray<SharedProblem>;
}
