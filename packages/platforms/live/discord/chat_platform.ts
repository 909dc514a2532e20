import { ChatId, ChatPlatform, type GuildId, PlatformUnavailable } from "@accountlink/core";
import type { ChatUser, GuildMember } from "@accountlink/core/platforms";
import { Cache, DateTime, Duration, Effect, Exit, Layer, Option, Result } from "effect";
import type { HttpClient } from "effect/http";
import type { ResilientClient } from "../../http/mod.ts";
import { ask } from "../answers.ts";
import { liveBotInvite } from "../presentation.ts";
import { discordChannels } from "./chat_channels.ts";
import { discordCommands } from "./chat_commands.ts";
import { discordRoles } from "./chat_roles.ts";
import { discordClients, type LiveChatPlatformOptions } from "./discord_client.ts";
import {
  bySnowflake,
  CountedGuild,
  canManage,
  createdAt,
  Guild,
  imageUrl,
  isSnowflake,
  ListedMembers,
  Member,
  NamedMembers,
  RoledMember,
  Roles,
  User,
} from "./discord_wire.ts";
import { discordJoins } from "./joins.ts";
import { findGuildAs, findMemberAs } from "./lookups.ts";
import { makeOwnGuilds } from "./own_guilds.ts";

/** How long the role names of a guild are cached. The roles of a member are not cached. */
const rolesFreshFor = Duration.minutes(1);
const guildsWithRoles = 1_000;

/** How long a member lookup waits for role names before it answers without them. */
const rolesWait = Duration.seconds(1);

/**
 * The chat platform port on Discord's API with a bot token. The application provides the HTTP client.
 *
 * Each process respects Discord's rate limits as stated in response headers. A request over a limit waits; a request
 * that would wait too long fails at once as unavailable.
 */
export const liveChatPlatform = (
  options: LiveChatPlatformOptions,
): Layer.Layer<ChatPlatform, never, HttpClient.HttpClient> =>
  Layer.effect(
    ChatPlatform,
    Effect.gen(function* () {
      const { client, channels, roles, answers } = yield* discordClients(options);
      const rolesOf = yield* roleNames(client);
      const ownGuilds = yield* makeOwnGuilds(client);

      const findGuild = Effect.fnUntraced(function* (guildId: GuildId) {
        const operation = "ChatPlatform.findGuild";
        if (!isSnowflake(guildId) || !(yield* ownGuilds.has(operation, guildId))) return Option.none();
        const guild = yield* findGuildAs(client, guildId, { operation, found: Guild });
        if (Option.isNone(guild)) yield* ownGuilds.forget(guildId);
        return guild;
      });

      const findMember = Effect.fnUntraced(function* (guildId: GuildId, chatId: ChatId) {
        const asking = { operation: "ChatPlatform.findMember", found: Member };
        const found = yield* findMemberAs(client, guildId, chatId, asking);
        if (Option.isNone(found)) return Option.none();
        const names = found.value.roles.length === 0 ? noNames : yield* rolesOf(guildId);
        return Option.some(guildMember(found.value, names));
      });

      const findUser = (chatId: ChatId) =>
        isSnowflake(chatId)
          ? ask(client, "GET /users/{user_id}", {
              operation: "ChatPlatform.findUser",
              path: [chatId],
              found: User,
              matches: ({ id }) => id === chatId,
            }).pipe(Effect.map(Result.getSuccess), Effect.map(Option.map(chatUser)))
          : Effect.succeedNone;

      /**
       * Reads one page of the guild's members, starting at the lowest of the chat IDs. Returns an empty map if the bot
       * lacks Discord's intent to list members.
       */
      const findMembers = Effect.fnUntraced(function* (guildId: GuildId, chatIds: ReadonlyArray<ChatId>) {
        const [first] = chatIds.filter(isSnowflake).toSorted(bySnowflake);
        if (!isSnowflake(guildId) || first === undefined) return new Map<ChatId, boolean>();
        const page = yield* ask(client, "GET /guilds/{guild_id}/members", {
          operation: "ChatPlatform.findMembers",
          path: [guildId],
          query: { limit: pageSize, after: String(BigInt(first) - 1n) },
          found: ListedMembers,
        });
        if (Result.isFailure(page)) return new Map<ChatId, boolean>();
        const { read, leftOut } = page.success;
        const ids = read.map(({ user }) => user.id);
        // Only an empty page ends the list: a page may be short without being the last.
        const last = ids.toSorted(bySnowflake).at(-1);
        const members = new Set(ids);
        const told = chatIds.filter(
          (id) => isSnowflake(id) && (last === undefined || bySnowflake(id, last) <= 0),
        );
        const present = told.filter((id) => members.has(id));
        // A member whose entry cannot be read is looked up.
        return new Map((leftOut > 0 ? present : told).map((id) => [id, members.has(id)]));
      });

      /** Discord finds members of a guild by the start of their names. It cannot search outside of a guild. */
      const search = Effect.fnUntraced(function* (
        operation: string,
        guildId: GuildId,
        query: string,
        limit: number,
      ) {
        // Discord refuses an empty query.
        if (!isSnowflake(guildId) || query.trim() === "") return [];
        const found = yield* ask(client, "GET /guilds/{guild_id}/members/search", {
          operation,
          path: [guildId],
          query: { limit, query },
          found: NamedMembers,
        });
        return Result.getOrElse(found, () => []);
      });

      const findUserByName = Effect.fnUntraced(function* (username: string, guildId: GuildId | null) {
        if (guildId === null) return Option.none();
        const members = yield* search("ChatPlatform.findUserByName", guildId, username, 100);
        const wanted = username.toLowerCase();
        const member = members.find(({ user }) => user.username.toLowerCase() === wanted);
        return member === undefined ? Option.none() : Option.some(ChatId.make(member.user.id));
      });

      return ChatPlatform.of({
        findGuild,
        findMember,
        findMembers,
        findUser,
        findUserByName,
        createdAt: (chatId) => (isSnowflake(chatId) ? createdAt(chatId) : null),
        searchMembers: (guildId, beginning, limit) =>
          Effect.map(search("ChatPlatform.searchMembers", guildId, beginning, limit), (members) =>
            members.map(({ user }) => ChatId.make(user.id)),
          ),
        joinedGuilds: ownGuilds.joined,
        isManager: isManagerOn(client, ownGuilds),
        ...(options.clientId === undefined ? {} : { botInvite: liveBotInvite(options.clientId) }),
        joins: discordJoins(client, options.botToken),
        roles: yield* discordRoles(roles),
        channels: discordChannels(channels),
        commands: discordCommands(client, answers),
      });
    }),
  );

/** How many members Discord lists per request, in order of ID. */
const pageSize = 1_000;

type Names = ReadonlyMap<string, string>;

const noNames: Names = new Map();

/** Makes a cached lookup of a guild's role names. The lookup returns no names if it fails or takes too long. */
const roleNames = Effect.fnUntraced(function* (client: ResilientClient) {
  const cached = yield* Cache.makeWith(
    (guildId: GuildId) =>
      Effect.map(
        ask(client, "GET /guilds/{guild_id}/roles", {
          operation: "ChatPlatform.findMember",
          path: [guildId],
          found: Roles,
        }),
        (roles): Names => new Map(Result.getOrElse(roles, () => []).map(({ id, name }) => [id, name])),
      ),
    {
      capacity: guildsWithRoles,
      timeToLive: (exit) => (Exit.isSuccess(exit) ? rolesFreshFor : Duration.zero),
    },
  );
  return (guildId: GuildId) =>
    Cache.get(cached, guildId).pipe(
      Effect.timeout(rolesWait),
      Effect.orElseSucceed(() => noNames),
    );
});

const chatUser = ({ id, username, global_name, avatar, banner }: typeof User.Type): ChatUser => ({
  id,
  username,
  displayName: global_name ?? username,
  avatar: imageUrl("avatars", id, avatar),
  banner: imageUrl("banners", id, banner),
  created: createdAt(id),
});

const guildMember = ({ nick, joined_at, roles }: typeof Member.Type, names: Names): GuildMember => ({
  nickname: nick,
  joined: joined_at && DateTime.formatIso(joined_at),
  roles: roles.map((id) => ({ id, name: names.get(id) ?? null })),
});

/**
 * Finds out whether the member owns the guild, or has a role that may manage the guild. Every member has the role
 * `@everyone`.
 */
const isManagerOn = (
  client: ResilientClient,
  { has }: Pick<Effect.Success<ReturnType<typeof makeOwnGuilds>>, "has">,
): ChatPlatform["Service"]["isManager"] =>
  Effect.fnUntraced(function* (guildId, chatId) {
    const operation = "ChatPlatform.isManager";
    if (!isSnowflake(guildId) || !isSnowflake(chatId) || !(yield* has(operation, guildId))) return false;
    const guild = yield* findGuildAs(client, guildId, { operation, found: CountedGuild });
    if (Option.isNone(guild)) return false;
    const member = yield* findMemberAs(client, guildId, chatId, { operation, found: RoledMember });
    if (Option.isNone(member)) return false;
    const { owner_id, roles } = guild.value;
    const held = new Set([guildId, ...member.value.roles]);
    const isManager =
      owner_id === chatId || roles.read.some(({ id, permissions }) => held.has(id) && canManage(permissions));
    // A role that cannot be read may have the right.
    const isUnknown =
      !isManager && roles.leftOut > 0 && held.size > roles.read.filter(({ id }) => held.has(id)).length;
    return isUnknown ? yield* new PlatformUnavailable({ operation }) : isManager;
  });
