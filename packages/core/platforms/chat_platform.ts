/**
 * The port for the chat platform: guilds, members and users.
 */
import { Context, type Effect, type Option } from "effect";
import type { PlatformUnavailable } from "../errors.ts";
import type { ChatId, GuildId } from "../ids.ts";
import type { ChatUser, Guild, GuildMember } from "./profile.ts";

/** Requests to the chat platform. */
export class ChatPlatform extends Context.Service<
  ChatPlatform,
  {
    /** The guild. None if the bot is not in it. */
    readonly findGuild: (guildId: GuildId) => Effect.Effect<Option.Option<Guild>, PlatformUnavailable>;

    /** The membership of a user. None if the user is not in the guild. */
    readonly findMember: (
      guildId: GuildId,
      chatId: ChatId,
    ) => Effect.Effect<Option.Option<GuildMember>, PlatformUnavailable>;

    /**
     * Whether chat users are members, for as many as one request covers. Undefined if the platform
     * has no list of members.
     */
    readonly findMembers?: (
      guildId: GuildId,
      chatIds: ReadonlyArray<ChatId>,
    ) => Effect.Effect<ReadonlyMap<ChatId, boolean>, PlatformUnavailable>;

    /** Those of the guilds that the bot is in. */
    readonly joinedGuilds: (
      guildIds: ReadonlyArray<GuildId>,
    ) => Effect.Effect<ReadonlySet<GuildId>, PlatformUnavailable>;

    /**
     * Whether a user may manage a guild that the bot is in: they own it, or have a role with the
     * right to manage it. No cache answers, since the right can be taken away.
     */
    readonly isManager: (guildId: GuildId, chatId: ChatId) => Effect.Effect<boolean, PlatformUnavailable>;

    /** The public profile of a user. None if the user does not exist. */
    readonly findUser: (chatId: ChatId) => Effect.Effect<Option.Option<ChatUser>, PlatformUnavailable>;
  }
>()("@accountlink/core/ChatPlatform") {}
