import { ChatId, ChatPlatform, type GuildId } from "@accountlink/core";
import { ChatUser, Guild } from "@accountlink/core/platforms";
import { Effect, flow, Layer, Option, type Redacted } from "effect";
import { HttpClient, HttpClientRequest } from "effect/http";
import { finderOn, type Resilience, resilientClient } from "../http/mod.ts";
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

      const find = finderOn(client);

      const findMember = (guildId: GuildId, chatId: ChatId) =>
        find(
          "ChatPlatform.findMember",
          `/guilds/${guildId}/members/${chatId}`,
          Member,
          refusal("unknown_guild", "unknown_member", "unknown_user"),
        );

      return ChatPlatform.of({
        findGuild: (guildId) =>
          find("ChatPlatform.findGuild", `/guilds/${guildId}`, Guild, refusal("unknown_guild")),
        findMember: flow(
          findMember,
          Effect.map(Option.map(({ chatId: _, manager: __, ...member }) => member)),
        ),
        joinedGuilds: (guildIds) =>
          Effect.map(find("ChatPlatform.joinedGuilds", "/bot/guilds", Guilds), (found) => {
            const joined = new Set<string>(Option.getOrThrow(found).guilds.map(({ id }) => id));
            return new Set(guildIds.filter((id) => joined.has(id)));
          }),
        isManager: flow(findMember, Effect.map(Option.exists(({ manager }) => manager))),
        findUser: (chatId) =>
          find("ChatPlatform.findUser", `/users/${chatId}`, ChatUser, refusal("unknown_user")),
        joins: devJoins(client),
        roles: devChatRoles(client),
        commands: devChatCommands(client, baseUrl),
        botInvite: (guildId) => `${baseUrl}/chat/bot${guildId === null ? "" : `?guild_id=${guildId}`}`,
        findUserByName: (username) =>
          find(
            "ChatPlatform.findUserByName",
            `/users/by-name/${encodeURIComponent(username)}`,
            ChatUser,
            refusal("unknown_user"),
          ).pipe(Effect.map(Option.map(({ id }) => ChatId.make(id)))),
        searchMembers: (guildId, beginning, limit) =>
          find(
            "ChatPlatform.searchMembers",
            `/guilds/${guildId}/members/search?limit=${limit}&query=${encodeURIComponent(beginning)}`,
            Members,
            refusal("unknown_guild"),
          ).pipe(
            Effect.map((found) =>
              Option.toArray(found).flatMap(({ members }) =>
                members.map(({ chatId }) => ChatId.make(chatId)),
              ),
            ),
          ),
      });
    }),
  );
