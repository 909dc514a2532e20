import { Effect, Option } from "effect";
import { Forbidden, PlatformUnavailable } from "../errors.ts";
import type { GuildId } from "../ids.ts";
import { ChatPlatform } from "./chat_platform.ts";

/** Reads the channels of guilds and posts in them, on a platform that has channels. @internal */
export const makeGuildChannels = Effect.map(ChatPlatform, ({ channels }) => {
  const all = Effect.suspend(() =>
    channels === undefined
      ? Effect.fail(new PlatformUnavailable({ operation: "ChatChannels" }))
      : Effect.succeed(channels),
  );
  return {
    /** The operations of the port. Fails with `PlatformUnavailable` on a platform without channels. */
    channels: all,

    /** Returns the channels of a guild. Fails with `Forbidden` `bot_not_in_guild` if the bot is not in it. */
    findChannels: Effect.fn("GuildChannels.findChannels")(function* (guildId: GuildId) {
      const found = yield* (yield* all).findChannels(guildId);
      return Option.isSome(found) ? found.value : yield* new Forbidden({ reason: "bot_not_in_guild" });
    }),
  };
});
