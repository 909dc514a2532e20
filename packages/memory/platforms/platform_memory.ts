/** The platform ports on a fixture in memory. */
import { type ChatId, ChatPlatform, type GameId, GamePlatform, type GuildId } from "@accountlink/core";
import type { MemberFixture, PlatformFixture } from "@accountlink/core/fixture";
import type { Guild } from "@accountlink/core/platforms";
import { Effect, Layer, Option } from "effect";

export { layerIdentities } from "./identities.ts";

interface KnownGuild extends Guild {
  readonly members: ReadonlyMap<ChatId, MemberFixture>;
}

const guildsById = ({ guilds }: PlatformFixture): ReadonlyMap<GuildId, KnownGuild> =>
  new Map(
    guilds
      .filter(({ bot }) => bot)
      .map(({ id, name, members }) => [
        id,
        { id, name, members: new Map(members.map((member) => [member.chatId, member])) },
      ]),
  );

const chatPlatform = (fixture: PlatformFixture) => {
  const guilds = guildsById(fixture);
  const users = new Map(fixture.chatUsers.map((user) => [user.id, user]));
  return ChatPlatform.of({
    findGuild: (guildId) =>
      Effect.sync(() =>
        Option.map(Option.fromUndefinedOr(guilds.get(guildId)), ({ id, name }) => ({ id, name })),
      ),
    findMember: (guildId, chatId) =>
      Effect.sync(() =>
        Option.map(
          Option.fromUndefinedOr(guilds.get(guildId)?.members.get(chatId)),
          ({ nickname, joined, roles }) => ({ nickname, joined, roles }),
        ),
      ),
    joinedGuilds: (guildIds) => Effect.sync(() => new Set(guildIds.filter((id) => guilds.has(id)))),
    isManager: (guildId, chatId) =>
      Effect.sync(() => guilds.get(guildId)?.members.get(chatId)?.manager === true),
    findUser: (chatId) => Effect.sync(() => Option.fromUndefinedOr(users.get(chatId))),
    findUserByName: (username) => Effect.sync(() => idOfName(fixture.chatUsers, username)),
  });
};

const gamePlatform = ({ gameUsers }: PlatformFixture) => {
  const users = new Map(gameUsers.map((user) => [user.id, user]));
  return GamePlatform.of({
    hasUser: (gameId: GameId) => Effect.sync(() => users.has(gameId)),
    findProfile: (gameId) => Effect.sync(() => Option.fromUndefinedOr(users.get(gameId))),
    findUserByName: (username) => Effect.sync(() => idOfName(gameUsers, username)),
  });
};

const idOfName = <Id>(
  users: ReadonlyArray<{ readonly id: Id; readonly username: string | null }>,
  username: string,
): Option.Option<Id> =>
  Option.fromUndefinedOr(users.find((user) => user.username?.toLowerCase() === username.toLowerCase())?.id);

/**
 * Both platforms of the fixture. Guilds without the bot and their members are not found.
 *
 * @param fixture the `platform` part of a fixture
 */
export const layer = (fixture: PlatformFixture): Layer.Layer<ChatPlatform | GamePlatform> =>
  Layer.merge(
    Layer.sync(ChatPlatform, () => chatPlatform(fixture)),
    Layer.sync(GamePlatform, () => gamePlatform(fixture)),
  );
