/** The two platform ports, answered from the platform part of a fixture. */
import {
  type ChatId,
  ChatPlatform,
  type GameId,
  GamePlatform,
  type Guild,
  type GuildId,
  type MemberFixture,
  type PlatformFixture,
} from "@accountlink/core";
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
    findUser: (chatId) => Effect.sync(() => Option.fromUndefinedOr(users.get(chatId))),
  });
};

const gamePlatform = ({ gameUsers }: PlatformFixture) => {
  const users = new Map(gameUsers.map((user) => [user.id, user]));
  return GamePlatform.of({
    hasUser: (gameId: GameId) => Effect.sync(() => users.has(gameId)),
    findProfile: (gameId) => Effect.sync(() => Option.fromUndefinedOr(users.get(gameId))),
  });
};

/**
 * Both platforms, as the fixture has them. A guild without the bot is not seen, nor are its members.
 *
 * @param fixture the `platform` part of a fixture
 */
export const layer = (fixture: PlatformFixture): Layer.Layer<ChatPlatform | GamePlatform> =>
  Layer.merge(
    Layer.sync(ChatPlatform, () => chatPlatform(fixture)),
    Layer.sync(GamePlatform, () => gamePlatform(fixture)),
  );
