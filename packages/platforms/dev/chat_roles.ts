/** Roles and nicknames at a dev platform. */
import { ChatId, type GuildId } from "@accountlink/core";
import {
  type ChatRoles,
  MemberAboveBot,
  NoPermission,
  RoleAboveBot,
  type RoleMember,
  RoleMissing,
} from "@accountlink/core/platforms";
import { Effect, Option } from "effect";
import { HttpClientRequest } from "effect/http";
import { changeResource, finderOn, type ResilientClient } from "../http/mod.ts";
import { Members, NamedMember, Roles, refusal } from "./wire.ts";

const absent = refusal("unknown_guild", "unknown_member", "unknown_user");

const refused = refusal(
  "unknown_guild",
  "unknown_member",
  "unknown_user",
  "role_above_bot",
  "role_missing",
  "no_permission",
  "member_above_bot",
);

export const devChatRoles = (client: ResilientClient): ChatRoles => {
  const change = Effect.fnUntraced(function* (
    operation: string,
    request: HttpClientRequest.HttpClientRequest,
  ) {
    const refusalBody = yield* changeResource(client, operation, request, refused);
    if (Option.isNone(refusalBody)) return true;
    switch (refusalBody.value.code) {
      case "role_above_bot":
        return yield* new RoleAboveBot();
      case "role_missing":
        return yield* new RoleMissing();
      case "no_permission":
        return yield* new NoPermission();
      case "member_above_bot":
        return yield* new MemberAboveBot();
      default:
        return false;
    }
  });

  const find = finderOn(client);

  return {
    findGuildRoles: (guildId) => find("ChatRoles.findGuildRoles", `/guilds/${guildId}/roles`, Roles, absent),

    findMember: (guildId, chatId) =>
      find("ChatRoles.findMember", memberUrl(guildId, chatId), NamedMember, absent).pipe(
        Effect.map(Option.map(roleMember)),
      ),

    membersPage: (guildId, after) => {
      const query = after === null ? "" : `?after=${after}`;
      return find("ChatRoles.membersPage", `/guilds/${guildId}/members${query}`, Members, absent).pipe(
        Effect.map((page) => Option.toArray(page).flatMap(({ members }) => members.map(roleMember))),
      );
    },

    addRole: (guildId, chatId, roleId) =>
      change("ChatRoles.addRole", HttpClientRequest.put(roleUrl(guildId, chatId, roleId))),

    removeRole: (guildId, chatId, roleId) =>
      change("ChatRoles.removeRole", HttpClientRequest.delete(roleUrl(guildId, chatId, roleId))),

    setNickname: (guildId, chatId, nickname) =>
      change(
        "ChatRoles.setNickname",
        HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.patch(memberUrl(guildId, chatId)), { nickname }),
      ),
  };
};

const memberUrl = (guildId: GuildId, chatId: ChatId) => `/guilds/${guildId}/members/${chatId}`;

const roleUrl = (guildId: GuildId, chatId: ChatId, roleId: string) =>
  `${memberUrl(guildId, chatId)}/roles/${encodeURIComponent(roleId)}`;

const roleMember = ({
  chatId,
  username,
  displayName,
  nickname,
  roles,
}: typeof NamedMember.Type): RoleMember => ({
  chatId: ChatId.make(chatId),
  username,
  displayName,
  nickname,
  roleIds: roles.map(({ id }) => id),
  isBot: false,
});
