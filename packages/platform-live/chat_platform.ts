/**
 * The chat platform's port, answered by Discord.
 */
import { type ChatId, ChatPlatform, type ChatUser, type GuildId, type GuildMember } from "@accountlink/core";
import { findResource, type Resilience, type ResilientClient } from "@accountlink/platform-http";
import { Cache, DateTime, Duration, Effect, Exit, Layer, Option, type Redacted, Schema } from "effect";
import type { HttpClient } from "effect/http";
import { discordClient } from "./internal/discord_client.ts";
import { imageUrl, isSnowflake, madeAt } from "./internal/discord_values.ts";
import { Guild, Member, Role, refusal, User } from "./internal/discord_wire.ts";

export interface LiveChatPlatformOptions {
  /** The token of the application's bot. */
  readonly botToken: Redacted.Redacted;
  /** Where this service is reached from outside. Discord wants to know whose requests they are. */
  readonly publicUrl: string;
  /** Where Discord's API is, with its version. */
  readonly apiUrl?: string | undefined;
  readonly resilience?: Partial<Resilience>;
}

/** How long the names of a guild's roles are used. Who holds which is asked for each time. */
const rolesFreshFor = Duration.minutes(1);
const guildsWithRoles = 1_000;

/** How long a member waits for the names of roles, being one without them. */
const rolesWait = Duration.seconds(1);

/**
 * Discord as the chat platform, asked with the token of a bot. The application provides the HTTP client.
 *
 * Every process that uses the token holds itself to Discord's limits, as the headers tell them. A request waits its turn
 * for a while; one that would wait longer fails as unavailable at once, and nothing is sent before its time.
 */
export const liveChatPlatform = (
  options: LiveChatPlatformOptions,
): Layer.Layer<ChatPlatform, never, HttpClient.HttpClient> =>
  Layer.effect(
    ChatPlatform,
    Effect.gen(function* () {
      const client = yield* discordClient(options);
      const rolesOf = yield* roleNames(client);

      const findGuild = (guildId: GuildId) =>
        isSnowflake(guildId)
          ? findResource(client, {
              operation: "ChatPlatform.findGuild",
              url: `/guilds/${guildId}`,
              found: Guild,
              isAsked: ({ id }) => id === guildId,
              absent: refusal("unknownGuild", "missingAccess"),
            }).pipe(Effect.map(Option.map(({ id, name }) => ({ id, name: name ?? null }))))
          : Effect.succeedNone;

      const findMember = Effect.fnUntraced(function* (guildId: GuildId, chatId: ChatId) {
        if (!isSnowflake(guildId) || !isSnowflake(chatId)) return Option.none();
        const found = yield* findResource(client, {
          operation: "ChatPlatform.findMember",
          url: `/guilds/${guildId}/members/${chatId}`,
          found: Member,
          isAsked: ({ user }) => user.id === chatId,
          absent: refusal("unknownGuild", "unknownMember", "unknownUser", "missingAccess"),
        });
        if (Option.isNone(found)) return Option.none();
        const names = found.value.roles.length === 0 ? noNames : yield* rolesOf(guildId);
        return Option.some(guildMember(found.value, names));
      });

      const findUser = (chatId: ChatId) =>
        isSnowflake(chatId)
          ? findResource(client, {
              operation: "ChatPlatform.findUser",
              url: `/users/${chatId}`,
              found: User,
              isAsked: ({ id }) => id === chatId,
              absent: refusal("unknownUser"),
            }).pipe(Effect.map(Option.map(chatUser)))
          : Effect.succeedNone;

      return ChatPlatform.of({ findGuild, findMember, findUser });
    }),
  );

type Names = ReadonlyMap<string, string>;

const noNames: Names = new Map();

/** The names of a guild's roles, kept for a while. That they cannot be had is no failure. */
const roleNames = Effect.fnUntraced(function* (client: ResilientClient) {
  const kept = yield* Cache.makeWith(
    (guildId: GuildId) =>
      findResource(client, {
        operation: "ChatPlatform.findMember",
        url: `/guilds/${guildId}/roles`,
        found: Schema.Array(Role),
        isAsked: () => true,
        absent: refusal("unknownGuild", "missingAccess"),
      }).pipe(
        Effect.map(
          (roles): Names => new Map(Option.getOrElse(roles, () => []).map(({ id, name }) => [id, name])),
        ),
      ),
    {
      capacity: guildsWithRoles,
      timeToLive: (exit) => (Exit.isSuccess(exit) ? rolesFreshFor : Duration.zero),
    },
  );
  return (guildId: GuildId) =>
    Cache.get(kept, guildId).pipe(
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
  created: madeAt(id),
});

const guildMember = ({ nick, joined_at, roles }: typeof Member.Type, names: Names): GuildMember => ({
  nickname: nick ?? null,
  joined: joined_at === null ? null : DateTime.formatIso(joined_at),
  roles: roles.map((id) => ({ id, name: names.get(id) ?? null })),
});
