/** Implements the platform ports in memory, with the users and guilds of a fixture. */
import {
  type ChatId,
  ChatIdentity,
  ChatPlatform,
  type GameId,
  GameIdentity,
  GamePlatform,
  type GuildId,
} from "@accountlink/core";
import {
  chatUserOfFixture,
  connectionsOfFixture,
  FixtureGuild,
  groupOfFixture,
  groupPageOfFixture,
  itemOfFixture,
  type MemberFixture,
  ownsItem,
  type PlatformFixture,
  profileOfFixture,
} from "@accountlink/core/fixture";
import {
  type ChatChannels,
  type ChatRoles,
  type IdentityProvider,
  isSameUsername,
  PostRefused,
  ProofDenied,
  ProofInvalid,
  type RoleMember,
  type RoleRefused,
  type UserGuild,
} from "@accountlink/core/platforms";
import { Effect, Layer, Option } from "effect";
import { operationsOf } from "./plain.ts";

/** What `map` makes of the item with an ID; none without the item. */
const find = <Id, Item, A>(items: ReadonlyMap<Id, Item>, id: Id, map: (item: Item) => A): Option.Option<A> =>
  Option.map(Option.fromUndefinedOr(items.get(id)), map);

const chatPlatform = (fixture: PlatformFixture) => {
  const guilds = new Map(
    fixture.guilds.filter(({ bot }) => bot).map((guild) => [guild.id, new FixtureGuild(guild)]),
  );
  const users = new Map(fixture.chatUsers.map((user) => [user.id, user]));
  const operations = operationsOf<
    Omit<ChatPlatform["Service"], "botInvite" | "joins" | "roles" | "channels" | "commands">
  >({
    findGuild: (guildId) => find(guilds, guildId, ({ id, name }) => ({ id, name })),
    findMember: (guildId, chatId) =>
      Option.map(
        Option.fromUndefinedOr(guilds.get(guildId)?.member(chatId)),
        ({ nickname, joined, roles }) => ({ nickname, joined, roles }),
      ),
    joinedGuilds: (guildIds) => new Set(guildIds.filter((id) => guilds.has(id))),
    isManager: (guildId, chatId) => guilds.get(guildId)?.isManager(chatId) === true,
    findUser: (chatId) => find(users, chatId, chatUserOfFixture),
    findUserByName: (username) => idOfName(fixture.chatUsers, username),
    searchMembers: (guildId, beginning, limit) =>
      (guilds.get(guildId)?.search(beginning, limit, users) ?? []).map(({ chatId }) => chatId),
  });
  return { ...operations, roles: chatRoles(guilds, users), channels: chatChannels(guilds) };
};

const closed = new PostRefused({ reason: "channel_closed" });
const refuseOr = <A>(outcome: A | PostRefused) =>
  outcome instanceof PostRefused ? Effect.fail(outcome) : outcome;

const chatChannels = (guilds: ReadonlyMap<GuildId, FixtureGuild>): ChatChannels => {
  const ofChannel = (channelId: string) =>
    [...guilds.values()].find(({ channels }) => channels.has(channelId));
  return operationsOf<ChatChannels>({
    findChannels: (guildId) =>
      find(guilds, guildId, ({ channels }) => ({ channels: [...channels.values()], locale: null })),
    post: (channelId, message, once) =>
      refuseOr(ofChannel(channelId)?.post(channelId, message, once) ?? closed),
    postPrivately: () => "sent",
    edit: (channelId, messageId, message) =>
      refuseOr(ofChannel(channelId)?.edit(channelId, messageId, message) ?? closed),
  });
};

const chatRoles = (
  guilds: ReadonlyMap<GuildId, FixtureGuild>,
  users: ReadonlyMap<ChatId, PlatformFixture["chatUsers"][number]>,
): ChatRoles => {
  const roleMember = ({ chatId, nickname, joined, roles, pending = false }: MemberFixture): RoleMember => ({
    chatId,
    username: users.get(chatId)?.username ?? null,
    displayName: users.get(chatId)?.displayName ?? null,
    nickname,
    roleIds: roles.map(({ id }) => id),
    isBot: false,
    joined,
    isPending: pending,
  });

  const change = (guildId: GuildId, make: (guild: FixtureGuild) => boolean | RoleRefused) => {
    const guild = guilds.get(guildId);
    const changed = guild !== undefined && make(guild);
    return typeof changed === "boolean" ? changed : Effect.fail(changed);
  };

  return operationsOf<ChatRoles>({
    findGuildRoles: (guildId) =>
      find(guilds, guildId, ({ roles, memberCount }) => ({ roles: [...roles.values()], memberCount })),
    findMember: (guildId, chatId) =>
      Option.map(Option.fromUndefinedOr(guilds.get(guildId)?.member(chatId)), roleMember),
    findNameable: (guildId, chatId) => guilds.get(guildId)?.nameable(chatId) ?? new Set(),
    makeRole: (guildId, name) => find(guilds, guildId, (guild) => guild.makeRole(name)),
    membersPage: (guildId, after) => {
      const { members, next } = guilds.get(guildId)?.page(after) ?? { members: [], next: null };
      return { members: members.map(roleMember), next };
    },
    addRole: (guildId, chatId, roleId) => change(guildId, (guild) => guild.setRole(chatId, roleId, true)),
    removeRole: (guildId, chatId, roleId) => change(guildId, (guild) => guild.setRole(chatId, roleId, false)),
    setNickname: (guildId, chatId, nickname) =>
      change(guildId, (guild) => guild.setNickname(chatId, nickname)),
  });
};

const gamePlatform = (fixture: PlatformFixture) => {
  const { gameUsers } = fixture;
  const users = new Map(gameUsers.map((user) => [user.id, user]));
  return operationsOf<Omit<GamePlatform["Service"], "descriptionPage">>({
    hasUser: (gameId: GameId) => users.has(gameId),
    findProfile: (gameId) => find(users, gameId, profileOfFixture),
    findUserByName: (username) => idOfName(gameUsers, username),
    findDescription: (gameId) => find(users, gameId, ({ description }) => description ?? ""),
    findGroup: (groupId) => Option.fromUndefinedOr(groupOfFixture(fixture, groupId)),
    groupMembers: (groupId, cursor) => Option.some(groupPageOfFixture(gameUsers, groupId, cursor)),
    findItem: (item) => Option.fromUndefinedOr(itemOfFixture(gameUsers, item)),
    hasItem: (gameId, item) => {
      const user = users.get(gameId);
      return user !== undefined && ownsItem(user, item) ? "owned" : "not_owned";
    },
  });
};

const idOfName = <Id>(
  users: ReadonlyArray<{ readonly id: Id; readonly username: string | null }>,
  username: string,
): Option.Option<Id> =>
  Option.fromUndefinedOr(
    users.find((user) => user.username !== null && isSameUsername(user.username, username))?.id,
  );

/**
 * Both platforms of the fixture. A guild without the bot is not found, and its members are not found either.
 *
 * @param fixture the `platform` part of a fixture
 */
export const layer = (fixture: PlatformFixture): Layer.Layer<ChatPlatform | GamePlatform> =>
  Layer.merge(
    Layer.sync(ChatPlatform, () => chatPlatform(fixture)),
    Layer.sync(GamePlatform, () => gamePlatform(fixture)),
  );

const identityOf = <UserId extends string>(
  page: string,
  users: ReadonlyArray<{ readonly id: UserId }>,
  guildsOf: (userId: UserId) => ReadonlyArray<UserGuild> = () => [],
  connectionsOf: (userId: UserId) => ReadonlyArray<GameId> = () => [],
): IdentityProvider<UserId> => ({
  begin: ({ redirectUri, state }) =>
    Effect.succeed({ url: `${page}?${new URLSearchParams({ redirect_uri: redirectUri, state })}` }),
  finish: ({ state, withGuilds, withConnections }, callback) => {
    if (callback.get("state") !== state) return Effect.fail(new ProofInvalid({ reason: "another state" }));
    if (callback.get("error") === "access_denied") return Effect.fail(new ProofDenied());
    const user = users.find(({ id }) => id === callback.get("code"));
    return user === undefined
      ? Effect.fail(new ProofInvalid({ reason: "no such user" }))
      : Effect.succeed({
          userId: user.id,
          ...(withGuilds && { guilds: guildsOf(user.id) }),
          ...(withConnections && { connections: connectionsOf(user.id) }),
        });
  },
});

/** Sign-in at both platforms; a callback has the query `?state=…&code=<user ID>`, or `?state=…&error=access_denied`. */
export const layerIdentities = ({
  guilds,
  chatUsers,
  gameUsers,
}: PlatformFixture): Layer.Layer<ChatIdentity | GameIdentity> =>
  Layer.merge(
    Layer.succeed(
      ChatIdentity,
      identityOf(
        "https://chat.invalid/authorize",
        chatUsers,
        (chatId) =>
          guilds.flatMap(({ id, name, members }) =>
            members
              .filter((member) => member.chatId === chatId)
              .map(({ manager }) => ({ id, name, manager })),
          ),
        (chatId) => connectionsOfFixture(chatUsers, chatId),
      ),
    ),
    Layer.succeed(GameIdentity, identityOf("https://game.invalid/authorize", gameUsers)),
  );
