import { Context, Data, type Effect, type Option, type Scope, type Stream } from "effect";
import type { PlatformEffect, PlatformUnavailable } from "../errors.ts";
import type { ChatId, GuildId } from "../ids.ts";
import type { ChatCommands } from "./chat_commands.ts";
import type { ChatRoles } from "./chat_roles.ts";
import type { ChatUser, Guild, GuildMember } from "./profile.ts";

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
     * @param rights `none`, or the rights to change roles and nicknames
     */
    readonly botInvite?: (guildId: GuildId | null, rights: "none" | "roles") => string;

    /** Undefined if the platform does not report joins. */
    readonly joins?: ChatJoins;

    /** Undefined if the platform has no roles. */
    readonly roles?: ChatRoles;

    /** Undefined if the platform has no commands. */
    readonly commands?: ChatCommands;
  }
>()("@accountlink/core/ChatPlatform") {}
