import { Data, type Option } from "effect";
import type { PlatformEffect } from "../errors.ts";
import type { ChatId, GuildId } from "../ids.ts";

export interface GuildRole {
  readonly id: string;
  readonly name: string;
  /** Whether the bot may give and take the role. */
  readonly assignable: boolean;
}

/** The roles of a guild, highest first, and its number of members. */
export interface GuildRoles {
  readonly roles: ReadonlyArray<GuildRole>;
  readonly memberCount: number;
}

/** A member of a guild, with the member's current roles and nickname. */
export interface RoleMember {
  readonly chatId: ChatId;
  readonly username: string | null;
  readonly displayName: string | null;
  readonly nickname: string | null;
  readonly roleIds: ReadonlyArray<string>;
  /** Whether the member is a bot. Bots get no roles. */
  readonly isBot: boolean;
}

/** The role is above the bot's highest role. */
export class RoleAboveBot extends Data.TaggedError("RoleAboveBot") {
  readonly reason = "role_above_bot";
}

/** The guild has no such role any more. */
export class RoleMissing extends Data.TaggedError("RoleMissing") {
  readonly reason = "role_missing";
}

/** The bot lacks the permission to manage roles or nicknames. */
export class NoPermission extends Data.TaggedError("NoPermission") {
  readonly reason = "no_permission";
}

/** The member ranks above the bot, as the guild's owner always does. */
export class MemberAboveBot extends Data.TaggedError("MemberAboveBot") {
  readonly reason = "member_above_bot";
}

/**
 * Why the platform refuses a change. It refuses the change again until somebody changes the guild's roles or rights.
 *
 * @example
 * ```ts
 * const reasons = [RoleAboveBot, RoleMissing, NoPermission, MemberAboveBot].map((Refusal) => new Refusal().reason);
 * reasons; // ["role_above_bot", "role_missing", "no_permission", "member_above_bot"]
 * ```
 */
export type RoleRefusal = RoleAboveBot | RoleMissing | NoPermission | MemberAboveBot;

/** The outcome of a change: true if the change was made, false if the user is no longer a member of the guild. */
type Changed = PlatformEffect<boolean, RoleRefusal>;

/** Reads and changes roles and nicknames of members. Nothing is cached. */
export interface ChatRoles {
  /** Returns the guild's roles and number of members. None if the bot is not in the guild. */
  readonly findGuildRoles: (guildId: GuildId) => PlatformEffect<Option.Option<GuildRoles>>;

  /** Returns the roles and the nickname of a member. None if the user is not in the guild. */
  readonly findMember: (guildId: GuildId, chatId: ChatId) => PlatformEffect<Option.Option<RoleMember>>;

  /**
   * Returns up to 1,000 members, sorted by chat ID as a number: the members after `after`, or the first members if
   * `after` is null. An empty page means that there are no more members.
   */
  readonly membersPage: (guildId: GuildId, after: ChatId | null) => PlatformEffect<ReadonlyArray<RoleMember>>;

  readonly addRole: (guildId: GuildId, chatId: ChatId, roleId: string) => Changed;

  readonly removeRole: (guildId: GuildId, chatId: ChatId, roleId: string) => Changed;

  /** Null removes the nickname. */
  readonly setNickname: (guildId: GuildId, chatId: ChatId, nickname: string | null) => Changed;
}
