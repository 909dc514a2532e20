import { Data, type Option } from "effect";
import type { PlatformEffect } from "../errors.ts";
import type { ChatId, GuildId } from "../ids.ts";

/** A text channel of a guild. */
export interface GuildChannel {
  readonly id: string;
  readonly name: string;
  /** Whether the bot may read the channel and post in it. */
  readonly mayPost: boolean;
  /** Whether every member of the guild may read the channel. */
  readonly isPublic: boolean;
}

/** The text channels of a guild, in the order in which members see them. */
export interface GuildChannels {
  readonly channels: ReadonlyArray<GuildChannel>;
  /** The language of the guild, such as `pt-BR`; null if the platform does not tell. */
  readonly locale: string | null;
}

/**
 * The platform refuses a message. `channel_closed`: the channel is gone, or the bot may not post in it, until somebody
 * changes the guild. `message_refused`: the platform refuses this message, and perhaps no other.
 *
 * @example
 * ```ts
 * new PostRefused({ reason: "channel_closed" }).reason; // "channel_closed"
 * ```
 */
export class PostRefused extends Data.TaggedError("PostRefused")<{
  readonly reason: "channel_closed" | "message_refused";
}> {}

/**
 * What became of a private message. `closed`: the user takes none. `refused`: the platform refuses this one for a reason
 * of its own. `bot_refused`: the platform refuses every private message of the bot for a time. `unanswered`: the
 * platform did not answer, and may have sent the message.
 */
export type PrivateOutcome = "sent" | "closed" | "refused" | "bot_refused" | "unanswered";

/**
 * Posts messages of the bot in channels. Messages are in the form of the platform's API, and mention nobody. Nothing is
 * cached.
 */
export interface ChatChannels {
  /** Returns the text channels of a guild. None if the bot is not in the guild. */
  readonly findChannels: (guildId: GuildId) => PlatformEffect<Option.Option<GuildChannels>>;

  /**
   * Posts a message and returns its ID.
   *
   * @param once at most 25 characters. If the bot posted a message with the same ones in the last minutes, from whichever
   * process, that message is changed instead
   */
  readonly post: (channelId: string, message: object, once?: string) => PlatformEffect<string, PostRefused>;

  /**
   * Sends a private message. Fails only if the message was not sent.
   *
   * @param once as in `post`
   */
  readonly postPrivately: (chatId: ChatId, message: object, once: string) => PlatformEffect<PrivateOutcome>;

  /** Replaces a message of the bot. Returns false if the message is gone. */
  readonly edit: (
    channelId: string,
    messageId: string,
    message: object,
  ) => PlatformEffect<boolean, PostRefused>;
}
