/** The platforms behind short-lived caches. */
import {
  type Cache,
  type ChatId,
  ChatPlatform,
  type GameId,
  GamePlatform,
  type GuildId,
} from "@accountlink/core";
import {
  type ChatRoles,
  ChatUser,
  featuresOf,
  type GameItem,
  GameProfile,
  Guild,
  GuildMember,
  ItemOwnership,
  type ProfilePart,
  profileParts,
} from "@accountlink/core/platforms";
import { Duration, Effect, Layer, Option, Schema } from "effect";
import { cachedLookup } from "./cached_lookup.ts";

/** The age of an answer counts from its request to the platform, even for callers that joined the request later. */
const freshFor = {
  /** As long as a guild is cached, the bot counts as its member. */
  guild: Duration.seconds(10),
  /** A member leaves a guild or gets roles more often than a profile changes. */
  member: Duration.seconds(5),
  /** Also the time of the answer that a game user exists. */
  profile: Duration.seconds(30),
  /** Of what was not found, and of a profile without badges or groups: people join a guild and retry at once. */
  absence: Duration.seconds(1),
};

/**
 * Wraps the provided chat platform in a short-lived cache.
 *
 * @example
 * ```ts
 * import { CacheMemory } from "@accountlink/memory";
 * import { PlatformMemory } from "@accountlink/memory";
 * import { Layer } from "effect";
 *
 * const platform = PlatformMemory.layer({ guilds: [], chatUsers: [], gameUsers: [] });
 * const layer = cachedChatPlatform().pipe(Layer.provide([platform, CacheMemory.layer]));
 * ```
 */
export const cachedChatPlatform = (): Layer.Layer<ChatPlatform, never, ChatPlatform | Cache> =>
  Layer.effect(
    ChatPlatform,
    Effect.gen(function* () {
      const platform = yield* ChatPlatform;

      const findGuild = yield* cachedLookup({
        answer: "chat.guild",
        lookup: platform.findGuild,
        schema: Schema.OptionFromNullOr(Guild),
        freshFor: (found) => (Option.isSome(found) ? freshFor.guild : freshFor.absence),
      });

      const findMember = yield* cachedLookup({
        answer: "chat.member",
        lookup: ([guildId, chatId]: readonly [GuildId, ChatId]) => platform.findMember(guildId, chatId),
        schema: Schema.OptionFromNullOr(GuildMember),
        freshFor: (found) => (Option.isSome(found) ? freshFor.member : freshFor.absence),
      });

      const findUser = yield* cachedLookup({
        answer: "chat.user",
        lookup: platform.findUser,
        schema: Schema.OptionFromNullOr(ChatUser),
        freshFor: (found) => (Option.isSome(found) ? freshFor.profile : freshFor.absence),
      });

      return ChatPlatform.of({
        // Operations that are not replaced below are not cached, because they are rarely repeated for the same users.
        ...platform,
        findGuild,
        findMember: (guildId, chatId) => findMember([guildId, chatId]),
        findUser,
        cached: {
          members: (guildId) => findMember.readCached((chatId) => [guildId, chatId]),
          users: findUser.readCached((chatId) => chatId),
        },
        ...(platform.roles === undefined
          ? {}
          : { roles: afterChanges(platform.roles, (...changed) => findMember.forget(changed)) }),
      });
    }),
  );

/** Runs an effect after every change of a member. */
const afterChanges = (
  roles: ChatRoles,
  effect: (guildId: GuildId, chatId: ChatId) => Effect.Effect<void>,
): ChatRoles => {
  const then =
    <Rest extends ReadonlyArray<unknown>, A, E>(
      change: (guildId: GuildId, chatId: ChatId, ...rest: Rest) => Effect.Effect<A, E>,
    ) =>
    (guildId: GuildId, chatId: ChatId, ...rest: Rest) =>
      Effect.ensuring(change(guildId, chatId, ...rest), effect(guildId, chatId));
  return {
    ...roles,
    addRole: then(roles.addRole),
    removeRole: then(roles.removeRole),
    setNickname: then(roles.setNickname),
  };
};

/** A user, and the needed parts and groups of the profile. Parts have names, groups have digits. */
type PartsOfUser = readonly [gameId: GameId, ...needed: ReadonlyArray<string>];

const isPart = Schema.is(Schema.Literals(profileParts));

type ItemOfUser = readonly [gameId: GameId, item: GameItem["item"], itemId: string];

/** Wraps the provided game platform in a short-lived cache. */
export const cachedGamePlatform = (): Layer.Layer<GamePlatform, never, GamePlatform | Cache> =>
  Layer.effect(
    GamePlatform,
    Effect.gen(function* () {
      const platform = yield* GamePlatform;

      const hasUser = yield* cachedLookup({
        answer: "game.user",
        lookup: platform.hasUser,
        schema: Schema.Boolean,
        freshFor: (isThere) => (isThere ? freshFor.profile : freshFor.absence),
      });

      const findProfile = yield* cachedLookup({
        answer: "game.profile",
        lookup: ([gameId, ...needed]: PartsOfUser) => {
          const groupIds = needed.filter((each) => !isPart(each));
          return platform.findProfile(gameId, needed.filter(isPart), groupIds);
        },
        schema: Schema.OptionFromNullOr(GameProfile),
        // Badges or groups are null after a failed request, so ask again soon. A user may have no avatar.
        freshFor: (found, [, ...needed]) =>
          Option.exists(found, (known) =>
            needed.filter(isPart).every((part) => part === "avatar" || known[part] !== null),
          )
            ? freshFor.profile
            : freshFor.absence,
      });

      const askItem = platform.hasItem;
      const hasItem =
        askItem &&
        (yield* cachedLookup({
          answer: "game.item",
          lookup: ([gameId, item, itemId]: ItemOfUser) => askItem(gameId, { item, itemId }),
          schema: ItemOwnership,
          freshFor: () => freshFor.profile,
        }));

      // A part that the platform does not have is null, which is no reason to ask again soon.
      const partsOf = (parts: ReadonlyArray<ProfilePart>) =>
        Effect.map(featuresOf(platform), (has) => parts.filter((part) => part !== "groups" || has.groups));

      return GamePlatform.of({
        ...platform,
        hasUser,
        findProfile: (gameId, parts = profileParts, groupIds = []) =>
          Effect.flatMap(partsOf(parts), (asked) => findProfile([gameId, ...asked, ...groupIds])),
        cachedProfiles: (gameIds) =>
          Effect.flatMap(partsOf(profileParts), (asked) =>
            findProfile.readCached((gameId: GameId) => [gameId, ...asked])(gameIds),
          ),
        ...(hasItem && { hasItem: (gameId, { item, itemId }) => hasItem([gameId, item, itemId]) }),
      });
    }),
  );
