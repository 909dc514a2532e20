import { Context, Effect, Layer, Option } from "effect";
import type { PlatformEffect } from "../errors.ts";
import type { ChatId, GameId, GuildId } from "../ids.ts";
import { ChatPlatform } from "./chat_platform.ts";
import { GamePlatform } from "./game_platform.ts";
import { platformConcurrency, type RequestedGuild } from "./guild_guard.ts";
import type { ChatProfile, GameProfile, Guild, OwnGuild, UserGuild } from "./profile.ts";

const maxResolvedChats = 25;

const guildTimeout = "1 second";

/**
 * Reads profiles. If the user is unknown or the platform fails, the profile is null, so that the lookup of a link still
 * succeeds. @internal
 */
export class Profiles extends Context.Service<
  Profiles,
  {
    readonly game: (gameId: GameId) => Effect.Effect<GameProfile | null>;

    /** Returns a guild to show on a page; null if the platform does not return the guild within a second. */
    readonly guild: (guildId: GuildId) => Effect.Effect<Guild | null>;

    /** Returns the profile of a chat user. If a guild is given, the profile includes the user's membership in it. */
    readonly chat: (chatId: ChatId, guildId: RequestedGuild) => Effect.Effect<ChatProfile | null>;

    /** Returns the profiles of the first 25 chat users, in order. */
    readonly chats: (
      chatIds: ReadonlyArray<ChatId>,
      guildId: RequestedGuild,
    ) => Effect.Effect<ReadonlyArray<ChatProfile | null>>;

    /**
     * Returns a user's guilds, and whether the bot is in each.
     *
     * @param guilds the platform's list from the sign-in
     */
    readonly ownGuilds: (guilds: ReadonlyArray<UserGuild>) => PlatformEffect<ReadonlyArray<OwnGuild>>;
  }
>()("@accountlink/core/Profiles") {
  static readonly layer = Effect.gen(function* () {
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
          duration: guildTimeout,
          orElse: () => Effect.succeed(null),
        }),
      chat,
      chats: (chatIds, guildId) =>
        Effect.forEach(chatIds.slice(0, maxResolvedChats), (chatId) => chat(chatId, guildId), {
          concurrency: platformConcurrency,
        }),
      ownGuilds: (guilds) =>
        Effect.map(chatPlatform.joinedGuilds(guilds.map(({ id }) => id)), (joined) =>
          guilds.map(({ id, name, manager }) => ({ guildId: id, name, bot: joined.has(id), manager })),
        ),
    });
  }).pipe(Layer.effect(Profiles));
}

const orNull = <A, E>(effect: Effect.Effect<Option.Option<A>, E>): Effect.Effect<A | null> =>
  effect.pipe(
    Effect.map(Option.getOrNull),
    Effect.catch(() => Effect.succeed(null)),
  );
