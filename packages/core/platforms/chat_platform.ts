import { Context, Data, type Effect, type Option, type Redacted, type Scope, type Stream } from "effect";
import type { PlatformEffect, PlatformUnavailable } from "../errors.ts";
import type { ChatId, GuildId } from "../ids.ts";
import type { ChatChannels } from "./chat_channels.ts";
import type { ReadCached } from "./find_each.ts";
import type { ChatUser, Guild, GuildMember } from "./profile.ts";

/** The application that the operator registered at the chat platform. */
export interface ChatApplication {
  readonly id: string;
  /** The key of the platform's signatures for the application: Ed25519, in hexadecimal. */
  readonly publicKey: string;
}

/** The answer to a command. */
export interface ChatAnswer {
  readonly applicationId: string;
  /** Allows to edit the answer, and nothing else. It is never logged. */
  readonly token: Redacted.Redacted;
}

/** What the service needs of a chat platform whose users type commands. */
export interface ChatCommands {
  readonly application: PlatformEffect<ChatApplication>;

  /**
   * Replaces a message that answered a command. Returns false if the platform takes no more edits of this answer.
   *
   * @param message the message in the form of the platform's API
   */
  readonly editAnswer: (answer: ChatAnswer, message: object) => PlatformEffect<boolean>;

  /** Returns the URL where owners try the commands as a member. Undefined on platforms for real members. */
  readonly tryUrl?: (guildId: GuildId) => string;
}

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
  /** What the bot may do in the guild; left out if the platform does not tell. */
  readonly rights?: { readonly roles: boolean; readonly nicknames: boolean };
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
  /** When the user joined, ISO 8601; left out or null if unknown. */
  readonly joined?: string | null;
  /** Whether the member has not passed the guild's own screening, and is as one who has not joined yet. */
  readonly isPending?: boolean;
}

/**
 * Why the platform refuses a change of a member: the role is above the bot's highest role, the guild has no such role
 * any more, the bot may not manage roles or nicknames, the member ranks above the bot, as the guild's owner always does,
 * or the platform's own rules forbid the nickname or the change of the role. @internal
 */
export const roleRefusals = [
  "role_above_bot",
  "role_missing",
  "no_permission",
  "member_above_bot",
  "nickname_refused",
  "role_refused",
] as const;

/**
 * The platform refuses a change. It refuses the change again until somebody changes the guild's roles, rights or rules.
 *
 * @example
 * ```ts
 * new RoleRefused({ reason: "role_above_bot" }).reason; // "role_above_bot"
 * ```
 */
export class RoleRefused extends Data.TaggedError("RoleRefused")<{
  readonly reason: (typeof roleRefusals)[number];
}> {}

/**
 * The platform does not list the members of the guild to the bot.
 *
 * @example
 * ```ts
 * new MembersHidden()._tag; // "MembersHidden"
 * ```
 */
export class MembersHidden extends Data.TaggedError("MembersHidden") {}

/** A page of the members of a guild. */
export interface MembersPage {
  readonly members: ReadonlyArray<RoleMember>;
  /** The chat ID to ask for the next page with; null if this page is the last. */
  readonly next: ChatId | null;
}

/** The outcome of a change: true if the change was made, false if the user is no longer a member of the guild. */
type Changed = PlatformEffect<boolean, RoleRefused>;

/** `Changed`; or the nickname that the member has now, if the platform keeps another one than it was given. */
type Renamed = PlatformEffect<boolean | { readonly nickname: string | null }, RoleRefused>;

/** Reads and changes roles and nicknames of members. Nothing is cached. */
export interface ChatRoles {
  /** Returns the guild's roles and number of members. None if the bot is not in the guild. */
  readonly findGuildRoles: (guildId: GuildId) => PlatformEffect<Option.Option<GuildRoles>>;

  /** Returns the roles and the nickname of a member. None if the user is not in the guild. */
  readonly findMember: (guildId: GuildId, chatId: ChatId) => PlatformEffect<Option.Option<RoleMember>>;

  /**
   * Returns the IDs of the roles that a member may name in the rules of a role plan: all for the owner of the guild, see
   * `nameableRoles` for others. Undefined if every manager may name every role.
   */
  readonly findNameable?: (guildId: GuildId, chatId: ChatId) => PlatformEffect<ReadonlySet<string>>;

  /**
   * Returns up to 1,000 members, sorted by chat ID as a number: the members after `after`, or the first members if
   * `after` is null.
   */
  readonly membersPage: (
    guildId: GuildId,
    after: ChatId | null,
  ) => PlatformEffect<MembersPage, MembersHidden>;

  readonly addRole: (guildId: GuildId, chatId: ChatId, roleId: string) => Changed;

  readonly removeRole: (guildId: GuildId, chatId: ChatId, roleId: string) => Changed;

  /**
   * Makes a role without rights, below all others, and returns its ID. None if the bot is not in the guild. Undefined if
   * the bot makes no roles on the platform.
   */
  readonly makeRole?: (guildId: GuildId, name: string) => PlatformEffect<Option.Option<string>, RoleRefused>;

  /** Null removes the nickname. */
  readonly setNickname: (guildId: GuildId, chatId: ChatId, nickname: string | null) => Renamed;
}

/** What the bot asks for when an owner adds it: rights to change roles and nicknames, to post messages, or both. */
export type BotRights = "none" | "roles" | "posts" | "roles_and_posts";

/** A chat user who joined a guild. */
export interface GuildJoin {
  readonly guildId: GuildId;
  readonly chatId: ChatId;
}

/**
 * The chat platform refuses to report joins until the operator changes the bot's application.
 *
 * @example
 * ```ts
 * new JoinsRefused({ reason: "the bot token is wrong" }).reason; // "the bot token is wrong"
 * ```
 */
export class JoinsRefused extends Data.TaggedError("JoinsRefused")<{ readonly reason: string }> {}

/** How far a connection has read the joins, kept for the next connection, which may be on another node. */
export interface JoinsPosition {
  readonly read: Effect.Effect<string | null>;
  readonly write: (position: string) => Effect.Effect<void>;
}

/**
 * Connects to the chat platform until the scope closes, and returns the users who join a guild of the bot after the
 * position. Without a position, or if the platform has forgotten it, the stream begins with the next join. The stream
 * fails if the connection is lost.
 */
export type ChatJoins = (
  position: JoinsPosition,
) => Effect.Effect<
  Stream.Stream<GuildJoin, PlatformUnavailable | JoinsRefused>,
  PlatformUnavailable | JoinsRefused,
  Scope.Scope
>;

/**
 * Requests to the chat platform.
 *
 * @example
 * ```ts
 * import { ChatId, GuildId } from "@accountlink/core";
 * import type { ChatUser, Guild, GuildMember, UserGuild } from "@accountlink/core/platforms";
 * import { Effect, Layer, Option } from "effect";
 *
 * const guild: Guild = { id: "700000000000000001", name: "Makers" };
 * const unknown = { displayName: null, avatar: null, banner: null, created: null };
 * const ada: ChatUser = { id: "100001", username: "ada", ...unknown };
 * const member: GuildMember = { nickname: "Ada", joined: null, roles: [] };
 * const managed: UserGuild = { id: GuildId.make(guild.id), name: guild.name, manager: true };
 *
 * const platform = Layer.succeed(ChatPlatform, {
 *   findGuild: (guildId) => Effect.succeed(guildId === guild.id ? Option.some(guild) : Option.none()),
 *   findMember: (_, chatId) => Effect.succeed(chatId === ada.id ? Option.some(member) : Option.none()),
 *   joinedGuilds: (guildIds) => Effect.succeed(new Set(guildIds.filter((id) => id === guild.id))),
 *   isManager: (guildId, chatId) => Effect.succeed(guildId === managed.id && chatId === ada.id),
 *   findUser: (chatId) => Effect.succeed(chatId === ada.id ? Option.some(ada) : Option.none()),
 * });
 *
 * const bob = ChatId.make("100002");
 * const manages = Effect.flatMap(ChatPlatform, ({ isManager }) => isManager(managed.id, bob));
 * await Effect.runPromise(Effect.provide(manages, platform)); // false
 * ```
 */
export class ChatPlatform extends Context.Service<
  ChatPlatform,
  {
    /** Returns the guild. None if the bot is not in it. */
    readonly findGuild: (guildId: GuildId) => PlatformEffect<Option.Option<Guild>>;

    /** Returns the membership of a user. None if the user is not in the guild. */
    readonly findMember: (guildId: GuildId, chatId: ChatId) => PlatformEffect<Option.Option<GuildMember>>;

    /**
     * Returns for each chat user whether they are a member of the guild. Sends at most one request to the platform, and
     * leaves out users that the answer does not cover. Undefined if the platform has no list of members.
     */
    readonly findMembers?: (
      guildId: GuildId,
      chatIds: ReadonlyArray<ChatId>,
    ) => PlatformEffect<ReadonlyMap<ChatId, boolean>>;

    /** Returns the given guilds that the bot is in. */
    readonly joinedGuilds: (guildIds: ReadonlyArray<GuildId>) => PlatformEffect<ReadonlySet<GuildId>>;

    /**
     * Returns whether a user may manage a guild that the bot is in: as its owner, or by a role. Never cached, because
     * the right can be taken away.
     */
    readonly isManager: (guildId: GuildId, chatId: ChatId) => PlatformEffect<boolean>;

    /** Returns when an account was created, ISO 8601, or null. Undefined if the platform's IDs do not tell it. */
    readonly createdAt?: (chatId: ChatId) => string | null;

    /** Returns the public profile of a user. None if the user does not exist. */
    readonly findUser: (chatId: ChatId) => PlatformEffect<Option.Option<ChatUser>>;

    /**
     * Finds a user by user name, ignoring case. If a guild is given, finds only members of this guild. Undefined if the
     * platform cannot find users by name.
     */
    readonly findUserByName?: (
      username: string,
      guildId: GuildId | null,
    ) => PlatformEffect<Option.Option<ChatId>>;

    /**
     * Returns up to `limit` members of a guild whose name begins with a text, ignoring case. Undefined if the platform
     * cannot search by the beginning of a name.
     */
    readonly searchMembers?: (
      guildId: GuildId,
      beginning: string,
      limit: number,
    ) => PlatformEffect<ReadonlyArray<ChatId>>;

    /**
     * Returns the URL of the page where an owner adds the bot to the guild; if `guildId` is null, the owner chooses a
     * guild there. Undefined if the platform has no such page.
     *
     * @param rights what the bot will do there: change roles and nicknames, post messages, both or neither
     */
    readonly botInvite?: (guildId: GuildId | null, rights: BotRights) => string;

    /** Reads cached members and users; undefined if the adapter caches no answers. */
    readonly cached?: {
      readonly members: (guildId: GuildId) => ReadCached<ChatId, Option.Option<GuildMember>>;
      readonly users: ReadCached<ChatId, Option.Option<ChatUser>>;
    };

    /** Undefined if the platform does not report joins. */
    readonly joins?: ChatJoins;

    /** Undefined if the platform has no roles. */
    readonly roles?: ChatRoles;

    /** Undefined if the platform has no channels. */
    readonly channels?: ChatChannels;

    /** Undefined if the platform has no commands. */
    readonly commands?: ChatCommands;
  }
>()("@accountlink/core/ChatPlatform") {}
