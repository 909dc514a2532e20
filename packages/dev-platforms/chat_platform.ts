import { ChatId, ChatPlatform, type GuildId } from "@accountlink/core";
import {
  type ChatChannels,
  type ChatCommands,
  type ChatJoins,
  type ChatRoles,
  ChatUser,
  Guild,
  MembersHidden,
  PostRefused,
  type RoleMember,
  RoleRefused,
  roleRefusals,
} from "@accountlink/core/platforms";
import { finderOn, mayHaveActed, type ResilientClient, resilientClient } from "@accountlink/platforms/http";
import { Effect, flow, Layer, Option, Redacted, Result, Schema, Stream } from "effect";
import { HttpClient, HttpClientRequest } from "effect/http";
import { askDev } from "./ask_dev.ts";
import type { DevGamePlatformOptions } from "./game_platform.ts";
import {
  Application,
  Channels,
  Joins,
  Made,
  Member,
  Members,
  MembersPage,
  Nameable,
  Refusal,
  Roles,
} from "./wire.ts";

export interface DevChatPlatformOptions extends DevGamePlatformOptions {
  readonly botToken: Redacted.Redacted;
}

/** Makes the chat platform port for a dev platform. The application provides the HTTP client. */
export const devChatPlatform = ({
  baseUrl,
  botToken,
}: DevChatPlatformOptions): Layer.Layer<ChatPlatform, never, HttpClient.HttpClient> =>
  Layer.effect(
    ChatPlatform,
    Effect.gen(function* () {
      const http = HttpClient.mapRequest(
        yield* HttpClient.HttpClient,
        flow(HttpClientRequest.prependUrl(`${baseUrl}/chat/api`), HttpClientRequest.bearerToken(botToken)),
      );
      const client = yield* resilientClient(http, "chat");
      const find = finderOn(client, Refusal);
      const findMember = (guildId: GuildId, chatId: ChatId) =>
        find("ChatPlatform.findMember", memberUrl(guildId, chatId), Member);

      return ChatPlatform.of({
        findGuild: (guildId) =>
          Effect.map(find("ChatPlatform.findGuild", `/bot/guilds?id=${guildId}`, BotGuilds), (found) =>
            Option.fromUndefinedOr(Option.getOrThrow(found).guilds[0]),
          ),
        findMembers: (guildId, chatIds) => {
          const url = `/guilds/${guildId}/members?ids=${chatIds.join(",")}`;
          return Effect.map(find("ChatPlatform.findMembers", url, Members), (found) => {
            const members = new Set<string>(membersIn(found).map(({ chatId }) => chatId));
            return new Map(chatIds.map((chatId) => [chatId, members.has(chatId)]));
          });
        },
        findMember: flow(
          findMember,
          Effect.map(Option.map(({ nickname, joined, roles }) => ({ nickname, joined, roles }))),
        ),
        joinedGuilds: (guildIds) =>
          Effect.map(find("ChatPlatform.joinedGuilds", "/bot/guilds", BotGuilds), (found) => {
            const joined = new Set<string>(Option.getOrThrow(found).guilds.map(({ id }) => id));
            return new Set(guildIds.filter((id) => joined.has(id)));
          }),
        isManager: flow(findMember, Effect.map(Option.exists(({ manager }) => manager))),
        findUser: (chatId) => find("ChatPlatform.findUser", `/users/${chatId}`, ChatUser),
        joins: devJoins(client),
        roles: devChatRoles(client),
        channels: devChatChannels(client),
        commands: devChatCommands(client, baseUrl),
        botInvite: (guildId) => `${baseUrl}/chat/bot${guildId === null ? "" : `?guild_id=${guildId}`}`,
        findUserByName: (username) => {
          const url = `/users/by-name?username=${encodeURIComponent(username)}`;
          const found = find("ChatPlatform.findUserByName", url, Schema.Struct({ id: ChatId }));
          return Effect.map(
            found,
            Option.map(({ id }) => id),
          );
        },
        searchMembers: (guildId, beginning, limit) => {
          const url = `/guilds/${guildId}/members/search?limit=${limit}&query=${encodeURIComponent(beginning)}`;
          return Effect.map(find("ChatPlatform.searchMembers", url, Members), (found) =>
            membersIn(found).map(({ chatId }) => chatId),
          );
        },
      });
    }),
  );

const BotGuilds = Schema.Struct({ guilds: Schema.Array(Guild) });

const membersIn = (page: Option.Option<typeof Members.Type>) =>
  Option.isSome(page) ? page.value.members : [];

/** Asks twice a second. Keeps a position with the next question, when its joins are stored. */
const devJoins = (client: ResilientClient): ChatJoins =>
  Effect.fnUntraced(function* (place) {
    let after = yield* place.read;
    const ask = Effect.gen(function* () {
      if (after !== null) yield* place.write(after);
      const query = after === null ? "" : `?after=${after}`;
      const found = yield* finderOn(client)("ChatPlatform.joins", `/joins${query}`, Joins);
      const { joins, position } = Option.getOrThrow(found);
      after = String(position);
      return joins;
    });
    const later = Stream.fromEffectRepeat(Effect.delay(ask, "500 millis"));
    return Stream.flattenIterable(Stream.prepend(later, [yield* ask]));
  });

const devChatCommands = (client: ResilientClient, baseUrl: string): ChatCommands => ({
  application: finderOn(client)("ChatCommands.application", "/application", Application).pipe(
    Effect.map(Option.getOrThrow),
  ),
  editAnswer: ({ applicationId, token }, message) => {
    const url = `/webhooks/${applicationId}/${Redacted.value(token)}/messages/@original`;
    return Effect.map(askDev(client, "ChatCommands.editAnswer", patchJson(url, message)), Result.isSuccess);
  },
  tryUrl: (guildId) => `${baseUrl}/chat/guilds/${guildId}`,
});

const refusalOf = (code: string) =>
  new PostRefused({ reason: code === "message_refused" ? code : "channel_closed" });

const devChatChannels = (client: ResilientClient): ChatChannels => ({
  findChannels: (guildId) =>
    finderOn(client, Refusal)("ChatChannels.findChannels", `/guilds/${guildId}/channels`, Channels),

  post: Effect.fnUntraced(function* (channelId, message, nonce) {
    const request = postJson(`/channels/${encodeURIComponent(channelId)}/messages`, { ...message, nonce });
    const posted = yield* askDev(client, "ChatChannels.post", request, Made);
    return Result.isSuccess(posted) ? posted.success.id : yield* refusalOf(posted.failure);
  }),

  postPrivately: Effect.fnUntraced(
    function* (chatId, message, nonce) {
      const request = postJson(`/users/${encodeURIComponent(chatId)}/messages`, { ...message, nonce });
      const sent = yield* askDev(client, "ChatChannels.postPrivately", request);
      if (Result.isSuccess(sent)) return "sent";
      if (sent.failure === "bot_refused") return sent.failure;
      return sent.failure === "message_refused" ? "refused" : "closed";
    },
    Effect.catchIf(mayHaveActed, () => Effect.succeed("unanswered" as const)),
  ),

  edit: Effect.fnUntraced(function* (channelId, messageId, message) {
    const url = `/channels/${encodeURIComponent(channelId)}/messages/${encodeURIComponent(messageId)}`;
    const edited = yield* askDev(client, "ChatChannels.edit", patchJson(url, message));
    if (Result.isSuccess(edited)) return true;
    return edited.failure === "unknown_message" ? false : yield* refusalOf(edited.failure);
  }),
});

const postJson = (url: string, body: object) =>
  HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(url), body);

const patchJson = (url: string, body: object) =>
  HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.patch(url), body);

const devChatRoles = (client: ResilientClient): ChatRoles => {
  const find = finderOn(client, Refusal);

  const change = (operation: string, request: HttpClientRequest.HttpClientRequest) =>
    Effect.map(unlessRefused(askDev(client, operation, request)), Option.isSome);

  return {
    findGuildRoles: (guildId) => find("ChatRoles.findGuildRoles", `/guilds/${guildId}/roles`, Roles),

    findMember: (guildId, chatId) =>
      find("ChatRoles.findMember", memberUrl(guildId, chatId), Member).pipe(
        Effect.map(Option.map(roleMember)),
      ),

    findNameable: (guildId, chatId) =>
      Effect.map(
        find("ChatRoles.findNameable", `${memberUrl(guildId, chatId)}/nameable`, Nameable),
        (found) => new Set(Option.isSome(found) ? found.value.roleIds : []),
      ),

    membersPage: Effect.fnUntraced(function* (guildId, after) {
      const url = `/guilds/${guildId}/members${after === null ? "" : `?after=${after}`}`;
      const page = yield* askDev(client, "ChatRoles.membersPage", HttpClientRequest.get(url), MembersPage);
      if (Result.isFailure(page)) return yield* new MembersHidden();
      return { members: page.success.members.map(roleMember), next: page.success.next };
    }),

    makeRole: Effect.fnUntraced(function* (guildId, name) {
      const request = postJson(`/guilds/${guildId}/roles`, { name });
      const made = yield* unlessRefused(askDev(client, "ChatRoles.makeRole", request, Made));
      return Option.map(made, ({ id }) => id);
    }),

    addRole: (guildId, chatId, roleId) =>
      change("ChatRoles.addRole", HttpClientRequest.put(roleUrl(guildId, chatId, roleId))),

    removeRole: (guildId, chatId, roleId) =>
      change("ChatRoles.removeRole", HttpClientRequest.delete(roleUrl(guildId, chatId, roleId))),

    setNickname: (guildId, chatId, nickname) =>
      change("ChatRoles.setNickname", patchJson(memberUrl(guildId, chatId), { nickname })),
  };
};

/** Returns none if the guild, the member or the role is unknown. */
const unlessRefused = Effect.fnUntraced(function* <A>(asking: ReturnType<typeof askDev<A>>) {
  const answer = yield* asking;
  if (Result.isSuccess(answer)) return Option.some(answer.success);
  const reason = roleRefusals.find((each) => each === answer.failure);
  return reason === undefined ? Option.none<A>() : yield* new RoleRefused({ reason });
});

const memberUrl = (guildId: GuildId, chatId: ChatId) => `/guilds/${guildId}/members/${chatId}`;

const roleUrl = (guildId: GuildId, chatId: ChatId, roleId: string) =>
  `${memberUrl(guildId, chatId)}/roles/${encodeURIComponent(roleId)}`;

const roleMember = ({ roles, manager: _, pending = false, ...member }: typeof Member.Type): RoleMember => ({
  ...member,
  isPending: pending,
  roleIds: roles.map(({ id }) => id),
  isBot: false,
});
