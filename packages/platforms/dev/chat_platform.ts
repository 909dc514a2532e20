import { ChatId, ChatPlatform, type GuildId } from "@accountlink/core";
import { ChatUser, Guild } from "@accountlink/core/platforms";
import { Effect, flow, Layer, Option, type Redacted } from "effect";
import { HttpClient, HttpClientRequest } from "effect/http";
import { findResource, type Resilience, resilientClient } from "../http/mod.ts";
import { devChatCommands } from "./chat_commands.ts";
import { devChatRoles } from "./chat_roles.ts";
import { devJoins } from "./joins.ts";
import { Guilds, Member, Members, refusal } from "./wire.ts";

export interface DevChatPlatformOptions {
  /** The URL of the dev platform, such as `http://127.0.0.1:4000`. */
  readonly baseUrl: string;
  readonly botToken: Redacted.Redacted;
  readonly resilience?: Partial<Resilience>;
}

/** Makes the chat platform port for a dev platform. The application provides the HTTP client. */
export const devChatPlatform = ({
  baseUrl,
  botToken,
  resilience,
}: DevChatPlatformOptions): Layer.Layer<ChatPlatform, never, HttpClient.HttpClient> =>
  Layer.effect(
    ChatPlatform,
    Effect.gen(function* () {
      const http = HttpClient.mapRequest(
        yield* HttpClient.HttpClient,
        flow(HttpClientRequest.prependUrl(`${baseUrl}/chat/api`), HttpClientRequest.bearerToken(botToken)),
      );
      const client = yield* resilientClient(http, "chat", resilience);

      const findGuild = (guildId: GuildId) =>
        findResource(client, {
          operation: "ChatPlatform.findGuild",
          url: `/guilds/${guildId}`,
          found: Guild,
          matches: ({ id }) => id === guildId,
          absent: refusal("unknown_guild"),
        });

      const findMember = (guildId: GuildId, chatId: ChatId) =>
        findResource(client, {
          operation: "ChatPlatform.findMember",
          url: `/guilds/${guildId}/members/${chatId}`,
          found: Member,
          matches: (member) => member.chatId === chatId,
          absent: refusal("unknown_guild", "unknown_member", "unknown_user"),
        });

      const findUser = (chatId: ChatId) =>
        findResource(client, {
          operation: "ChatPlatform.findUser",
          url: `/users/${chatId}`,
          found: ChatUser,
          matches: ({ id }) => id === chatId,
          absent: refusal("unknown_user"),
        });

      const findUserByName = (username: string) =>
        findResource(client, {
          operation: "ChatPlatform.findUserByName",
          url: `/users/by-name/${encodeURIComponent(username)}`,
          found: ChatUser,
          absent: refusal("unknown_user"),
        });

      const searchMembers = (guildId: GuildId, beginning: string, limit: number) =>
        findResource(client, {
          operation: "ChatPlatform.searchMembers",
          url: `/guilds/${guildId}/members/search?limit=${limit}&query=${encodeURIComponent(beginning)}`,
          found: Members,
          absent: refusal("unknown_guild"),
        });

      const botGuilds = findResource(client, {
        operation: "ChatPlatform.joinedGuilds",
        url: "/bot/guilds",
        found: Guilds,
        absent: refusal(),
      });

      return ChatPlatform.of({
        findGuild,
        findMember: flow(
          findMember,
          Effect.map(Option.map(({ chatId: _, manager: __, ...member }) => member)),
        ),
        joinedGuilds: (guildIds) =>
          Effect.map(botGuilds, (found) => {
            const joined = new Set(Option.toArray(found).flatMap(({ guilds }) => guilds.map(({ id }) => id)));
            return new Set(guildIds.filter((id) => joined.has(id)));
          }),
        isManager: flow(findMember, Effect.map(Option.exists(({ manager }) => manager))),
        findUser,
        joins: devJoins(client),
        roles: devChatRoles(client),
        commands: devChatCommands(client, baseUrl),
        botInvite: (guildId) => `${baseUrl}/chat/bot${guildId === null ? "" : `?guild_id=${guildId}`}`,
        findUserByName: (username) =>
          Effect.map(
            findUserByName(username),
            Option.map(({ id }) => ChatId.make(id)),
          ),
        searchMembers: flow(
          searchMembers,
          Effect.map((found) =>
            Option.toArray(found).flatMap(({ members }) => members.map(({ chatId }) => ChatId.make(chatId))),
          ),
        ),
      });
    }),
  );
