/**
 * Profiles for `resolved` answers.
 */
import { Context, Effect, Layer, Option } from "effect";
import type { ChatId, GameId, GuildId } from "../ids.ts";
import { ChatPlatform } from "../ports/chat_platform.ts";
import { GamePlatform } from "../ports/game_platform.ts";
import type { ChatProfile, GameProfile, Guild } from "../profile.ts";
import { questionsAtOnce, type RequestedGuild } from "./guild_guard.ts";

/** How many chat profiles one answer resolves at most. */
export const maxResolvedChats = 25;

/** How long the user of a page waits for the name of a guild. */
const longestWaitForGuild = "1 second";

/** Reads profiles. What is gone, or a platform that is down, gives null and never fails a lookup. */
export class Profiles extends Context.Service<
  Profiles,
  {
    readonly game: (gameId: GameId) => Effect.Effect<GameProfile | null>;

    /** The guild, for a page that its user waits for: null as well when the platform takes longer than a second. */
    readonly guild: (guildId: GuildId) => Effect.Effect<Guild | null>;

    /** The chat user, with the place in the guild when one is named. */
    readonly chat: (chatId: ChatId, guildId: RequestedGuild) => Effect.Effect<ChatProfile | null>;

    /** The profiles of the first 25, in their order. */
    readonly chats: (
      chatIds: ReadonlyArray<ChatId>,
      guildId: RequestedGuild,
    ) => Effect.Effect<ReadonlyArray<ChatProfile | null>>;
  }
>()("@accountlink/core/Profiles") {
  static readonly layer = Layer.effect(
    Profiles,
    Effect.gen(function* () {
      const chatPlatform = yield* ChatPlatform;
      const gamePlatform = yield* GamePlatform;

      const chat = Effect.fnUntraced(function* (chatId: ChatId, guildId: RequestedGuild) {
        const [user, guild] = yield* Effect.all(
          [
            orNull(chatPlatform.findUser(chatId)),
            guildId === null ? Effect.succeed(null) : orNull(chatPlatform.findMember(guildId, chatId)),
          ],
          { concurrency: 2 },
        );
        return user === null ? null : { ...user, guild };
      });

      return Profiles.of({
        game: (gameId) => orNull(gamePlatform.findProfile(gameId)),
        guild: (guildId) =>
          Effect.timeoutOrElse(orNull(chatPlatform.findGuild(guildId)), {
            duration: longestWaitForGuild,
            orElse: () => Effect.succeed(null),
          }),
        chat,
        chats: (chatIds, guildId) =>
          Effect.forEach(chatIds.slice(0, maxResolvedChats), (chatId) => chat(chatId, guildId), {
            concurrency: questionsAtOnce,
          }),
      });
    }),
  );
}

const orNull = <A, E>(effect: Effect.Effect<Option.Option<A>, E>): Effect.Effect<A | null> =>
  effect.pipe(
    Effect.map(Option.getOrNull),
    Effect.catch(() => Effect.succeed(null)),
  );
