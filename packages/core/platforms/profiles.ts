import { Array, Context, Effect, Layer, Option, Result } from "effect";
import type { PlatformUnavailable } from "../errors.ts";
import type { ChatId, GameId, GuildId } from "../ids.ts";
import { forEachLimited } from "../limited_loops.ts";
import { ChatPlatform } from "./chat_platform.ts";
import { findEach, platformConcurrency } from "./find_each.ts";
import { GamePlatform, type ProfilePart } from "./game_platform.ts";
import type { RequestedGuild } from "./guild_guard.ts";
import type { ChatProfile, GameProfile, UserGuild } from "./profile.ts";

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

    const chatProfiles = Effect.fnUntraced(function* (chatIds: Iterable<ChatId>, guildId: RequestedGuild) {
      const { cached, findMember, findUser } = chatPlatform;
      const [users, members] = yield* Effect.all(
        [
          findEach(chatIds, findUser, cached?.users),
          guildId === null
            ? Effect.succeed(null)
            : findEach(chatIds, (id) => findMember(guildId, id), cached?.members(guildId)),
        ],
        { concurrency: "unbounded" },
      );
      return new Map<ChatId, ChatProfile | null>(
        Array.fromIterable(users).map(([id, user]) => {
          const [found, guild] = [foundIn(user), foundIn(members?.get(id))];
          return [id, found === null ? null : { ...found, guild }];
        }),
      );
    });

    const chatLists = Effect.fnUntraced(function* <Key>(
      lists: ReadonlyMap<Key, ReadonlyArray<ChatId>>,
      guildId: RequestedGuild,
    ) {
      const resolved = Array.fromIterable(lists).map(
        ([key, chatIds]) => [key, chatIds.slice(0, maxResolvedChats)] as const,
      );
      const all = resolved.flatMap(([, chatIds]) => chatIds);
      const found = yield* chatProfiles(all, guildId);
      return new Map(
        resolved.map(([key, chatIds]) => [key, chatIds.map((chatId) => found.get(chatId) ?? null)] as const),
      );
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
        yield* forEachLimited(ids, platformConcurrency, nameOne);
        return found;
      }
      for (const part of Array.chunksOf(ids, namesPerRequest)) {
        const names = yield* Effect.orElseSucceed(findNames(part), () => new Map<GameId, never>());
        for (const [id, name] of names) found.set(id, { ...onlyNames, id, ...name });
      }
      return found;
    });

    return {
      /** @param parts the needed parts, all by default */
      game: (gameId: GameId, parts?: ReadonlyArray<ProfilePart>) =>
        orNull(gamePlatform.findProfile(gameId, parts)),

      gameProfiles: Effect.fnUntraced(function* (gameIds: Iterable<GameId>) {
        const { cachedProfiles, findProfile } = gamePlatform;
        const found = yield* findEach(gameIds, (id) => findProfile(id), cachedProfiles);
        return new Map(Array.fromIterable(found).map(([id, profile]) => [id, foundIn(profile)] as const));
      }),

      /** Returns profiles with names alone, in as few requests as the platform allows; omits users without an answer. */
      gameNames,

      /** Returns a guild to show on a page; null if the platform does not return the guild within a second. */
      guild: (guildId: GuildId) =>
        Effect.timeoutOrElse(orNull(chatPlatform.findGuild(guildId)), {
          duration: guildTimeout,
          orElse: () => Effect.succeed(null),
        }),

      chat: (chatId: ChatId, guildId: RequestedGuild) =>
        Effect.map(chatProfiles([chatId], guildId), (found) => found.get(chatId) ?? null),

      /** Returns the profile of each chat user, as `chat` returns the profile of one. */
      chatProfiles,

      /** Returns the profiles of the first 25 chat users of each list, in order. */
      chatLists,

      /** Returns the profiles of the first 25 chat users, in order. */
      chats: (chatIds: ReadonlyArray<ChatId>, guildId: RequestedGuild) =>
        Effect.map(chatLists(new Map([[null, chatIds]]), guildId), (lists) => lists.get(null) ?? []),

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

/** Returns null if a user was not found, or was not looked up, or the lookup failed. */
const foundIn = <A>(answer: Result.Result<Option.Option<A>, PlatformUnavailable> | undefined): A | null =>
  answer === undefined ? null : Option.getOrNull(Result.getOrElse(answer, () => Option.none<A>()));

const orNull = <A, E>(effect: Effect.Effect<Option.Option<A>, E>): Effect.Effect<A | null> =>
  Effect.orElseSucceed(Effect.map(effect, Option.getOrNull), () => null);
