/** A community: a guild, and the scope in which its members link. */
import { Option, Order, Schema, Struct } from "effect";
import { type Actor, type AuditEntry, changeDetails, changedFields } from "../audit/audit.ts";
import type { DataScope } from "../data_scope.ts";
import { Digits, type GuildId, type Pid } from "../ids.ts";
import { chosen, storedSchemasOf, switched, unsetOf } from "../settings.ts";
import type { Millis } from "../timestamp.ts";

export interface CommunityPlace {
  readonly pid: Pid;
  readonly guildId: GuildId;
}

/** A guild, and the scope in which its members link. */
export interface ScopedGuild {
  readonly scope: DataScope;
  readonly guildId: GuildId;
}

/** @internal */
export const placeOf = ({ scope: { pid }, guildId }: ScopedGuild): CommunityPlace => ({ pid, guildId });

/** Sorts by scope, then by guild. @internal */
export const placeOrder = (one: CommunityPlace, other: CommunityPlace): number =>
  Order.String(one.pid, other.pid) || Order.String(one.guildId, other.guildId);

/** The rows of `CommunitySettings`. @internal */
export const communitySettings = {
  logChannelId: chosen(
    Digits,
    { is: "choice", text: "expected null or the ID of a channel" },
    // A log goes on while the rules are paused.
    "The text channel in which the bot tells what happens, or null; left out, it stays as it is",
  ),
  remindAfterDays: chosen(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 90 }, { expected: "1 to 90 days" })),
    { is: "reminder_days" },
    "After how many days without a link the bot reminds a member, once, by a private message, or null; left out, " +
      "it stays as it is",
  ),
  tellTroubles: switched(
    true,
    "Whether the bot tells who turned the rules on, by a private message, when they stop without them; left out, it " +
      "stays as it is",
  ),
};

/**
 * What the team of a community chooses, besides the rules of its role plan.
 * The texts and the minimum ages of the verification belong to the scope, see `ScopeSettings`: a global scope asks the
 * users of several guilds with the same texts, and the flow may know no guild.
 *
 * @example
 * ```ts
 * import { Schema } from "effect";
 *
 * Schema.decodeUnknownSync(CommunitySettings)({}); // { logChannelId: null, remindAfterDays: null, tellTroubles: true }
 * ```
 */
export const CommunitySettings = Schema.Struct(storedSchemasOf(communitySettings));
export type CommunitySettings = typeof CommunitySettings.Type;

/** Changes of settings. A setting that is undefined or left out does not change. */
export type CommunityUpdate = {
  readonly [Name in keyof CommunitySettings]?: CommunitySettings[Name] | undefined;
};

/** @internal */
export const communitySettingNames = Struct.keys(communitySettings);

/** The settings of a community for which nothing was chosen. @internal */
export const nothingChosen: CommunitySettings = unsetOf(communitySettings);

/** Why the service pauses the rules of a community by itself. @internal */
export const pauseReasons = [
  "bot_removed",
  "unmanaged",
  "many_would_lose",
  "account_closed",
  "role_rights",
] as const;

export type PauseReason = (typeof pauseReasons)[number];

/** Who paused the rules: a member of the account's team, a key, or the operator. */
export interface PausedBy {
  readonly type: Exclude<Actor["type"], "user">;
  /** The chat ID of the member, or the ID of the key; null for the operator, and once the member is erased. */
  readonly id: string | null;
}

export interface Pause {
  readonly at: Millis;
  /** Why the service paused the rules; null if somebody else did, or if it is unknown. */
  readonly why: PauseReason | null;
  /** Null if the service paused the rules, or if it is unknown. */
  readonly by: PausedBy | null;
}

/** A message with which members link their accounts. */
export interface Panel {
  readonly channelId: string;
  readonly messageId: string;
  /** The text that a manager typed; null for the usual sentence. */
  readonly text: string | null;
}

/** A panel as it was posted, of which nobody knows the message if it answered a command. */
export interface PostedPanel extends Omit<Panel, "messageId"> {
  readonly messageId: string | null;
}

/** Whether linking is on in a guild with the links of a scope. */
export interface Linking {
  /** When linking was last turned on; null if it never was. */
  readonly homeSince: Millis | null;
  /** Who paused the rules, when and why; null while they are on, and if they never were. */
  readonly paused: Pause | null;
}

export interface Community extends ScopedGuild, CommunitySettings, Linking {
  /** The last panel of each channel, the newest last. */
  readonly panels: ReadonlyArray<Panel>;
}

/** A community without its scope and guild, as before anything was chosen. @internal */
export const newCommunity: Omit<Community, keyof ScopedGuild> = {
  ...nothingChosen,
  homeSince: null,
  paused: null,
  panels: [],
};

/** Returns the community that was found, or one for which nothing was chosen. @internal */
export const foundOrNew = (found: Option.Option<Community>, { scope, guildId }: ScopedGuild): Community =>
  Option.getOrElse(found, () => ({ ...newCommunity, scope, guildId }));

/** Returns whether linking is on and its rules are not paused. @internal */
export const isLinkingOn = ({ homeSince, paused }: Linking): boolean => homeSince !== null && paused === null;

/** Without a bot or a manager, a community asks nobody for their accounts until both are back. */
const stopsLinking: ReadonlySet<PauseReason | null> = new Set(["bot_removed", "unmanaged"]);
/** Nor does it without an account, which is not back again. */
const endsLinking: ReadonlySet<PauseReason | null> = new Set([...stopsLinking, "account_closed"]);

/** Returns whether members may link: linking was turned on, and goes on while its rules are paused. @internal */
export const mayLink = ({ homeSince, paused }: Linking): boolean =>
  homeSince !== null && !endsLinking.has(paused?.why ?? null);

/** Returns whether linking ended only until the bot and a manager are back. @internal */
export const mayResume = ({ homeSince, paused }: Linking): boolean =>
  homeSince !== null && stopsLinking.has(paused?.why ?? null);

/** Returns whether anything was chosen for a community. Stores do not return others. @internal */
export const isKnown = (community: CommunitySettings & Pick<Community, "homeSince" | "panels">): boolean =>
  community.homeSince !== null ||
  community.panels.length > 0 ||
  changedIn(nothingChosen, community).length > 0;

/** Sorts the communities of a guild: its home first, which is on or was turned on last. @internal */
export const homeOrder = (one: Community, other: Community): number =>
  Number(isLinkingOn(other)) - Number(isLinkingOn(one)) ||
  (other.homeSince ?? 0) - (one.homeSince ?? 0) ||
  Order.String(one.scope.pid, other.scope.pid);

/** Who pauses the rules by a change. @internal */
export const pauseBy = (actor: Actor, at: Millis): Pause => {
  switch (actor.type) {
    case "account":
      return { at, why: null, by: { type: "account", id: actor.member } };
    case "key":
      return { at, why: null, by: { type: "key", id: actor.id } };
    default:
      return { at, why: null, by: { type: "operator", id: null } };
  }
};

/** A pause by the service itself. @internal */
export const pauseFor = (why: PauseReason, at: Millis): Pause => ({ at, why, by: null });

/** Turns linking on, or pauses its rules. Who edits paused rules has not paused them. @internal */
export const turned = (before: Linking, state: "on" | "paused", pause: Pause): Linking => {
  if ((state === "on") === isLinkingOn(before)) return before;
  return state === "on"
    ? { homeSince: pause.at, paused: null }
    : { homeSince: before.homeSince, paused: pause };
};

/** More panels of a community are forgotten, the oldest first. */
const mostPanels = 100;

/** Adds a panel in place of the one in its channel. A panel without a known message is not kept. @internal */
export const withPanel = (
  panels: ReadonlyArray<Panel>,
  { channelId, messageId, text }: PostedPanel,
): ReadonlyArray<Panel> =>
  messageId === null
    ? panels
    : [...panels.filter((panel) => panel.channelId !== channelId), { channelId, messageId, text }].slice(
        -mostPanels,
      );

/**
 * Returns the details of the audit entry for a panel; null if the message is there already with the same text.
 * `previousText` is only in the entry of a changed message. @internal
 */
export const panelDetails = (
  guildId: GuildId,
  panels: ReadonlyArray<Panel>,
  { channelId, messageId, text }: PostedPanel,
): AuditEntry["details"] | null => {
  const before = panels.find((panel) => panel.channelId === channelId && panel.messageId === messageId);
  if (before?.text === text) return null;
  return { guildId, channelId, messageId, text, ...(before && { previousText: before.text }) };
};

/** Returns the names of the settings that an update changes. @internal */
export const changedIn = (before: CommunitySettings, update: CommunityUpdate) =>
  changedFields(communitySettingNames, before, update);

/** Returns the details of the audit entry for changed settings. @internal */
export const settingDetails = (
  before: CommunitySettings & Linking & CommunityPlace,
  update: Partial<CommunitySettings>,
): AuditEntry["details"] => {
  const changed = changedIn(before, update);
  return {
    guildId: before.guildId,
    state: isLinkingOn(before) ? "on" : "paused",
    changed: changed.join(", "),
    ...changeDetails(before, { ...before, ...update }, changed),
  };
};

/** Returns the settings in an update that may have other fields. @internal */
export const chosenIn = (update: CommunityUpdate): Partial<CommunitySettings> =>
  Object.fromEntries(
    communitySettingNames.flatMap((name) => (update[name] === undefined ? [] : [[name, update[name]]])),
  );
