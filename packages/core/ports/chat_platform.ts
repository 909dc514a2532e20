/**
 * The port for the chat platform: guilds, members and users.
 */
import { Context, type Effect, type Option } from "effect";
import type { PlatformUnavailable } from "../errors.ts";
import type { ChatId, GuildId } from "../ids.ts";
import type { ChatUser, Guild, GuildMember } from "../profile.ts";

/** What the service asks the chat platform. */
export class ChatPlatform extends Context.Service<
  ChatPlatform,
  {
    /** The guild, or none when the bot is not in it. */
    readonly findGuild: (guildId: GuildId) => Effect.Effect<Option.Option<Guild>, PlatformUnavailable>;

    /** The member, or none when the user is not in the guild. */
    readonly findMember: (
      guildId: GuildId,
      chatId: ChatId,
    ) => Effect.Effect<Option.Option<GuildMember>, PlatformUnavailable>;

    readonly findUser: (chatId: ChatId) => Effect.Effect<Option.Option<ChatUser>, PlatformUnavailable>;
  }
>()("@accountlink/core/ChatPlatform") {}
