import { type Cache, type ChatId, ChatPlatform, type GuildId } from "@accountlink/core";
import { type ChatRoles, ChatUser, Guild, GuildMember } from "@accountlink/core/platforms";
import { Effect, Layer, Option, Schema } from "effect";
import { cachedLookup } from "./cached_lookup.ts";
import { defaultStaleness, type Staleness } from "./staleness.ts";

/**
 * Wraps the provided chat platform in a short-lived cache.
 *
 * @param overrides maximum ages that differ from the defaults
 *
 * @example
 * ```ts
 * import { CacheMemory } from "@accountlink/memory";
 * import { PlatformMemory } from "@accountlink/memory";
 * import { Duration, Layer } from "effect";
 *
 * const platform = PlatformMemory.layer({ guilds: [], chatUsers: [], gameUsers: [] });
 * const cached = cachedChatPlatform({ member: Duration.seconds(2) });
 * const layer = cached.pipe(Layer.provide([platform, CacheMemory.layer]));
 * ```
 */
export const cachedChatPlatform = (
  overrides: Partial<Staleness> = {},
): Layer.Layer<ChatPlatform, never, ChatPlatform | Cache> =>
  Layer.effect(
    ChatPlatform,
    Effect.gen(function* () {
      const platform = yield* ChatPlatform;
      const { guild, member, profile, absence } = { ...defaultStaleness, ...overrides };

      const findGuild = yield* cachedLookup({
        answer: "chat.guild",
        lookup: platform.findGuild,
        schema: Schema.OptionFromNullOr(Guild),
        freshFor: (found) => (Option.isSome(found) ? guild : absence),
      });

      const findMember = yield* cachedLookup({
        answer: "chat.member",
        lookup: ([guildId, chatId]: readonly [GuildId, ChatId]) => platform.findMember(guildId, chatId),
        schema: Schema.OptionFromNullOr(GuildMember),
        freshFor: (found) => (Option.isSome(found) ? member : absence),
      });

      const findUser = yield* cachedLookup({
        answer: "chat.user",
        lookup: platform.findUser,
        schema: Schema.OptionFromNullOr(ChatUser),
        freshFor: (found) => (Option.isSome(found) ? profile : absence),
      });

      return ChatPlatform.of({
        // Operations that are not replaced below are not cached, because they are rarely repeated for the same users.
        ...platform,
        findGuild,
        findMember: (guildId, chatId) => findMember([guildId, chatId]),
        findUser,
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
