/** Roles and nicknames on Discord. */
import { type ChatId, type GuildId, PlatformUnavailable } from "@accountlink/core";
import { type ChatRoles, type GuildRole, type RoleMember, RoleRefused } from "@accountlink/core/platforms";
import { Cache, Duration, Effect, Exit, flow, Option, Schema } from "effect";
import { HttpClientRequest } from "effect/http";
import { changeResource, finderOn, RequestFailed, type ResilientClient } from "../../http/mod.ts";
import { canManage, codes, isSnowflake, RoledGuild, RoledMember, refusal } from "./discord_wire.ts";

const pageSize = 1_000;

/** How long the bot's rights are cached. They explain why Discord refused a change. */
const rightsFreshFor = Duration.seconds(10);

/** Shown in the guild's audit log. */
const auditLogReason = encodeURIComponent("This member's linked game account");

const notFound = refusal("unknownGuild", "unknownMember", "unknownUser", "missingAccess");

const refused = refusal(
  "unknownGuild",
  "unknownMember",
  "unknownRole",
  "unknownUser",
  "missingAccess",
  "missingPermissions",
  "twoFactorRequired",
);

interface BotRights {
  readonly roles: ReadonlyArray<GuildRole>;
  readonly memberCount: number;
  readonly managesRoles: boolean;
  readonly managesNicknames: boolean;
}

export const discordRoles = Effect.fnUntraced(function* (
  client: ResilientClient,
): Effect.fn.Return<ChatRoles> {
  const find = finderOn(client);

  const findMember = (guildId: GuildId, chatId: string) =>
    isSnowflake(guildId) && isSnowflake(chatId)
      ? find(
          "ChatRoles.findMember",
          memberUrl(guildId, chatId),
          RoledMember,
          notFound,
          ({ user }) => user.id === chatId,
        )
      : Effect.succeedNone;

  let botId: string | null = null;
  const findBotId = Effect.gen(function* () {
    if (botId !== null) return botId;
    const bot = yield* find(operation, "/users/@me", Schema.Struct({ id: Schema.String }));
    botId = Option.getOrThrow(bot).id;
    return botId;
  });

  const findRights = Effect.fnUntraced(function* (guildId: GuildId) {
    if (!isSnowflake(guildId)) return Option.none<BotRights>();
    const url = `/guilds/${guildId}?with_counts=true`;
    const guild = yield* find(operation, url, RoledGuild, notFound, ({ id }) => id === guildId);
    if (Option.isNone(guild)) return Option.none<BotRights>();
    const bot = yield* findMember(guildId, yield* findBotId);
    return Option.map(bot, ({ user, roles }) => rightsOf(guild.value, user.id, roles));
  });

  const explaining = yield* Cache.makeWith(findRights, {
    capacity: 1_000,
    timeToLive: (exit) => (Exit.isSuccess(exit) ? rightsFreshFor : Duration.zero),
  });

  /** @param explain returns the cause if Discord refuses the change for lack of permissions */
  const change = Effect.fnUntraced(function* (
    name: string,
    guildId: GuildId,
    request: HttpClientRequest.HttpClientRequest,
    explain: (rights: BotRights) => RoleRefused["reason"],
  ) {
    const answer = yield* changeResource(
      client,
      name,
      HttpClientRequest.setHeader(request, "x-audit-log-reason", auditLogReason),
      refused,
    );
    if (Option.isNone(answer)) return true;
    const { code } = answer.value;
    if (code === codes.unknownRole) return yield* new RoleRefused({ reason: "role_missing" });
    if (code === codes.twoFactorRequired) return yield* new RoleRefused({ reason: "no_permission" });
    if (code !== codes.missingPermissions) return false;
    const rights = yield* Cache.get(explaining, guildId);
    return Option.isSome(rights) && (yield* new RoleRefused({ reason: explain(rights.value) }));
  });

  const setRole =
    (name: string, make: typeof HttpClientRequest.put) =>
    (guildId: GuildId, chatId: ChatId, roleId: string) =>
      change(name, guildId, make(`${memberUrl(guildId, chatId)}/roles/${roleId}`), explainRole);

  return {
    findGuildRoles: flow(
      findRights,
      Effect.map(Option.map(({ roles, memberCount }) => ({ roles, memberCount }))),
    ),

    findMember: (guildId, chatId) => Effect.map(findMember(guildId, chatId), Option.map(roleMember)),

    membersPage: Effect.fnUntraced(function* (guildId, after) {
      const name = "ChatRoles.membersPage";
      const url = `/guilds/${guildId}/members?limit=${pageSize}${after === null ? "" : `&after=${after}`}`;
      const page = yield* find(name, url, Schema.Array(RoledMember), notFound);
      if (Option.isSome(page)) return page.value.map(roleMember);
      // The bot is not in the guild, or it lacks the intent to list members. The response does not tell which, so fail
      // instead of guessing.
      const cause = new RequestFailed({ reason: "status", status: 403 });
      return yield* new PlatformUnavailable({ operation: name, cause });
    }),

    addRole: setRole("ChatRoles.addRole", HttpClientRequest.put),
    removeRole: setRole("ChatRoles.removeRole", HttpClientRequest.delete),

    setNickname: (guildId, chatId, nickname) =>
      change(
        "ChatRoles.setNickname",
        guildId,
        HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.patch(memberUrl(guildId, chatId)), {
          nick: nickname,
        }),
        ({ managesNicknames }) => (managesNicknames ? "member_above_bot" : "no_permission"),
      ),
  };
});

const operation = "ChatRoles.findGuildRoles";

const memberUrl = (guildId: GuildId, chatId: string) => `/guilds/${guildId}/members/${chatId}`;

const explainRole = ({ managesRoles }: BotRights) => (managesRoles ? "role_above_bot" : "no_permission");

/**
 * Derives the bot's rights from the order of the guild's roles, and from the permissions of the bot's roles and of
 * `@everyone`.
 */
const rightsOf = (
  { id, owner_id, roles, approximate_member_count: memberCount = 0 }: typeof RoledGuild.Type,
  botId: string,
  held: ReadonlyArray<string>,
): BotRights => {
  const sorted = roles.toSorted(
    (one, other) => other.position - one.position || (BigInt(one.id) < BigInt(other.id) ? -1 : 1),
  );
  const isHeld = (role: { readonly id: string }) => role.id === id || held.includes(role.id);
  const may = (what: "roles" | "nicknames") =>
    owner_id === botId || roles.some((role) => isHeld(role) && canManage(role.permissions, what));
  const managesRoles = may("roles");
  const highest = owner_id === botId ? -1 : sorted.findIndex(isHeld);
  return {
    memberCount,
    managesRoles,
    managesNicknames: may("nicknames"),
    roles: sorted.map((role, index) => ({
      id: role.id,
      name: role.name,
      assignable: managesRoles && index > highest && role.managed !== true && role.id !== id,
    })),
  };
};

const roleMember = ({ user, nick, roles }: typeof RoledMember.Type): RoleMember => ({
  chatId: user.id,
  username: user.username,
  displayName: user.global_name ?? user.username,
  nickname: nick ?? null,
  roleIds: roles,
  isBot: user.bot === true,
});
