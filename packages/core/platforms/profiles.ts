import { Array, Context, Effect, Layer, Option } from "effect";
import type { ChatId, GameId, GuildId } from "../ids.ts";
import { forEachLimited } from "../limited_loops.ts";
import { ChatPlatform } from "./chat_platform.ts";
import { GamePlatform } from "./game_platform.ts";
import { platformConcurrency, type RequestedGuild } from "./guild_guard.ts";
import type { GameProfile, UserGuild } from "./profile.ts";

const maxResolvedChats = 25;

const namesPerRequest = 100;

const onlyNames = {
  description: null,
  created: null,
  isBanned: null,
  hasVerifiedBadge: null,
  avatar: null,
  badges: null,
  groups: null,
};

const guildTimeout = "1 second";

/**
 * Reads profiles. If the user is unknown or the platform fails, the profile is null, so that the lookup of a link still
 * succeeds. @internal
 */
export class Profiles extends Context.Service<Profiles>()("@accountlink/core/Profiles", {
  make: Effect.gen(function* () {
    const chatPlatform = yield* ChatPlatform;
    const gamePlatform = yield* GamePlatform;

    const chat = Effect.fnUntraced(function* (chatId: ChatId, guildId: RequestedGuild) {
      const [user, guild] = yield* Effect.all(
        [
          orNull(chatPlatform.findUser(chatId)),
          guildId === null ? Effect.succeed(null) : orNull(chatPlatform.findMember(guildId, chatId)),
        ],
        { concurrency: "unbounded" },
      );
      return user === null ? null : { ...user, guild };
    });

    const gameNames = Effect.fnUntraced(function* (gameIds: Iterable<GameId>) {
      const { findNames, findProfile } = gamePlatform;
      const ids = [...new Set(gameIds)];
      const found = new Map<GameId, GameProfile>();
      const nameOne = (id: GameId) =>
        Effect.map(orNull(findProfile(id, [])), (profile) => {
          if (profile !== null) found.set(id, profile);
        });
      if (findNames === undefined) {
        yield* forEachLimited(ids, nameOne, { concurrency: platformConcurrency });
        return found;
      }
      for (const part of Array.chunksOf(ids, namesPerRequest)) {
        const names = yield* Effect.orElseSucceed(findNames(part), () => new Map<GameId, never>());
        for (const [id, name] of names) found.set(id, { ...onlyNames, id, ...name });
      }
      return found;
    });

    return {
      game: (gameId: GameId) => orNull(gamePlatform.findProfile(gameId)),

      /** Returns profiles with names alone, in as few requests as the platform allows; omits users without an answer. */
      gameNames,

      /** Returns a guild to show on a page; null if the platform does not return the guild within a second. */
      guild: (guildId: GuildId) =>
        Effect.timeoutOrElse(orNull(chatPlatform.findGuild(guildId)), {
          duration: guildTimeout,
          orElse: () => Effect.succeed(null),
        }),

      /** Returns the profile of a chat user. If a guild is given, the profile includes the user's membership in it. */
      chat,

      /** Returns the profiles of the first 25 chat users, in order. */
      chats: (chatIds: ReadonlyArray<ChatId>, guildId: RequestedGuild) =>
        forEachLimited(chatIds.slice(0, maxResolvedChats), (chatId) => chat(chatId, guildId), {
          concurrency: platformConcurrency,
        }),

      /**
       * Returns a user's guilds, and whether the bot is in each.
       *
       * @param guilds the platform's list from the sign-in
       */
      ownGuilds: (guilds: ReadonlyArray<UserGuild>) =>
        Effect.map(chatPlatform.joinedGuilds(guilds.map(({ id }) => id)), (joined) =>
          guilds.map(({ id, name, manager }) => ({ guildId: id, name, bot: joined.has(id), manager })),
        ),
    };
  }),
}) {
  static readonly layer = Layer.effect(Profiles, Profiles.make);
}

const orNull = <A, E>(effect: Effect.Effect<Option.Option<A>, E>): Effect.Effect<A | null> =>
  Effect.orElseSucceed(Effect.map(effect, Option.getOrNull), () => null);
