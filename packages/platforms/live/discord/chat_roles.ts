/** Roles and nicknames on Discord. */
import type { ChatId, GuildId } from "@accountlink/core";
import {
  type ChatRoles,
  type GuildRole,
  MembersHidden,
  nameableRoles,
  powerfulPermissions,
  type RoleMember,
  RoleRefused,
} from "@accountlink/core/platforms";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { Cache, Duration, Effect, Exit, flow, Option, Result, Schema } from "effect";
import type { ResilientClient } from "../../http/mod.ts";
import { ask, type RouteRequest } from "../answers.ts";
import {
  bySnowflake,
  canManage,
  Identified,
  includesPermission,
  RoledGuild,
  RoledMember,
  RoledMembers,
} from "./discord_wire.ts";
import { findBotId, findGuildAs, findMemberAs } from "./lookups.ts";

const pageSize = 1_000;

/** How long the bot's rights are cached. They explain why Discord refused a change. */
const rightsFreshFor = Duration.seconds(10);

/** Shown in the guild's audit log. */
const auditLogReason = encodeURIComponent("This member's linked game account");

interface BotRights {
  readonly roles: ReadonlyArray<GuildRole>;
  readonly memberCount: number;
  readonly managesRoles: boolean;
  readonly managesNicknames: boolean;
}

export const discordRoles = Effect.fnUntraced(function* (
  client: ResilientClient,
): Effect.fn.Return<ChatRoles> {
  const findMember = (guildId: GuildId, chatId: string) =>
    findMemberAs(client, guildId, chatId, { operation: "ChatRoles.findMember", found: RoledMember });

  let botId: string | null = null;

  const findGuild = (guildId: GuildId) =>
    findGuildAs(client, guildId, {
      operation: "ChatRoles.findGuildRoles",
      query: { with_counts: true },
      found: RoledGuild,
    });

  const findRights = Effect.fnUntraced(function* (guildId: GuildId) {
    const guild = yield* findGuild(guildId);
    if (Option.isNone(guild)) return Option.none<BotRights>();
    botId ??= yield* findBotId(client, "ChatRoles.findGuildRoles");
    const bot = yield* findMember(guildId, botId);
    return Option.map(bot, ({ user, roles }) => rightsOf(guild.value, user.id, roles));
  });

  const explaining = yield* Cache.makeWith(findRights, {
    capacity: 1_000,
    timeToLive: (exit) => (Exit.isSuccess(exit) ? rightsFreshFor : Duration.zero),
  });

  /**
   * Makes a change of a member. Returns the answer; none if the user is not in the guild.
   *
   * @param explain returns the cause if Discord refuses the change for lack of permissions
   */
  const change = Effect.fnUntraced(function* (
    route: Change,
    request: Omit<RouteRequest<unknown>, "headers" | "found"> & {
      readonly path: [GuildId, ...Array<string>];
    },
    explain: (rights: BotRights) => RoleRefused["reason"],
  ) {
    const headers = { "x-audit-log-reason": auditLogReason };
    const made = yield* ask(client, route, { ...request, headers, found: Schema.Unknown });
    if (Result.isSuccess(made)) return Option.some(made.success);
    if (made.failure === "absent") return Option.none<unknown>();
    if (made.failure !== "not_permitted") return yield* new RoleRefused({ reason: made.failure });
    const rights = yield* Cache.get(explaining, request.path[0]);
    if (Option.isNone(rights)) return Option.none<unknown>();
    return yield* new RoleRefused({ reason: explain(rights.value) });
  });

  const setRole =
    (operation: string, method: "PUT" | "DELETE") => (guildId: GuildId, chatId: ChatId, roleId: string) =>
      change(
        `${method} /guilds/{guild_id}/members/{user_id}/roles/{role_id}`,
        { operation, path: [guildId, chatId, roleId] },
        ({ managesRoles }) => (managesRoles ? "role_above_bot" : "no_permission"),
      ).pipe(Effect.map(Option.isSome));

  const makeRole = Effect.fnUntraced(function* (guildId: GuildId, name: string) {
    const made = yield* ask(client, "POST /guilds/{guild_id}/roles", {
      operation: "ChatRoles.makeRole",
      path: [guildId],
      headers: { "x-audit-log-reason": encodeURIComponent("A role for a rank of a group") },
      // Without this, a role has the rights of everybody.
      body: { name, permissions: 0 },
      found: Identified,
    });
    if (Result.isSuccess(made)) return Option.some(made.success.id);
    return made.failure === "absent"
      ? Option.none<string>()
      : yield* new RoleRefused({ reason: made.failure });
  });

  return {
    makeRole,

    findGuildRoles: flow(
      findRights,
      Effect.map(
        Option.map(({ roles, memberCount, managesRoles, managesNicknames }) => ({
          roles,
          memberCount,
          rights: { roles: managesRoles, nicknames: managesNicknames },
        })),
      ),
    ),

    findMember: (guildId, chatId) => Effect.map(findMember(guildId, chatId), Option.map(roleMember)),

    findNameable: Effect.fnUntraced(function* (guildId, chatId) {
      const [guild, member] = [yield* findGuild(guildId), yield* findMember(guildId, chatId)];
      if (Option.isNone(guild) || Option.isNone(member)) return new Set<string>();
      const { id, owner_id, roles } = guild.value;
      if (owner_id === chatId) return new Set(roles.map((role) => role.id));
      const ranked = highestFirst(roles).map((role) => ({
        id: role.id,
        permissions: powerfulPermissions.filter((name) => includesPermission(role.permissions, name)),
      }));
      return nameableRoles(ranked, new Set([id, ...member.value.roles]));
    }),

    membersPage: Effect.fnUntraced(function* (guildId, after) {
      const page = yield* ask(client, "GET /guilds/{guild_id}/members", {
        operation: "ChatRoles.membersPage",
        path: [guildId],
        query: { limit: pageSize, after: after ?? undefined },
        found: RoledMembers,
      });
      if (Result.isFailure(page)) return yield* new MembersHidden();
      const { read, leftOut } = page.success;
      // The next page begins after the last member, so a page that is out of order must neither repeat nor skip.
      const members = read
        .map(roleMember)
        .filter(({ chatId }) => after === null || BigInt(chatId) > BigInt(after))
        .toSorted((one, other) => bySnowflake(one.chatId, other.chatId));
      // Discord leaves members out of a page without filling it up.
      const isFull = read.length + leftOut >= 0.9 * pageSize;
      return { members, next: isFull ? (members.at(-1)?.chatId ?? null) : null };
    }),

    addRole: setRole("ChatRoles.addRole", "PUT"),
    removeRole: setRole("ChatRoles.removeRole", "DELETE"),

    setNickname: (guildId, chatId, nickname) =>
      change(
        "PATCH /guilds/{guild_id}/members/{user_id}",
        { operation: "ChatRoles.setNickname", path: [guildId, chatId], body: { nick: nickname } },
        ({ managesNicknames }) => (managesNicknames ? "member_above_bot" : "no_permission"),
      ).pipe(
        Effect.map(
          Option.match({
            onNone: () => false,
            onSome: (answer) => {
              // Discord leaves out invisible characters, and keeps no nickname that equals the username. A member
              // without a nickname has null, or no such field.
              if (!isRenamedMember(answer) || (answer.nick ?? null) === nickname) return true;
              return { nickname: answer.nick ?? null };
            },
          }),
        ),
      ),
  };
});

const isRenamedMember = Schema.is(
  Schema.Struct({ user: Schema.Unknown, nick: Schema.optionalKey(Schema.NullOr(Schema.String)) }),
);

type Change =
  | "PATCH /guilds/{guild_id}/members/{user_id}"
  | `${"PUT" | "DELETE"} /guilds/{guild_id}/members/{user_id}/roles/{role_id}`;

const highestFirst = (roles: (typeof RoledGuild.Type)["roles"]) =>
  roles.toSorted((one, other) => other.position - one.position || bySnowflake(one.id, other.id));

/**
 * Derives the bot's rights from the order of the guild's roles, and from the permissions of the bot's roles and of
 * `@everyone`.
 */
const rightsOf = (
  { id, owner_id, roles, approximate_member_count: memberCount }: typeof RoledGuild.Type,
  botId: string,
  held: ReadonlyArray<string>,
): BotRights => {
  const sorted = highestFirst(roles);
  const isHeld = (role: { readonly id: string }) => role.id === id || held.includes(role.id);
  const may = (what: "roles" | "nicknames") =>
    owner_id === botId || roles.some((role) => isHeld(role) && canManage(role.permissions, what));
  const managesRoles = may("roles");
  const highest = owner_id === botId ? -1 : sorted.findIndex(isHeld);
  return {
    memberCount: memberCount ?? 0,
    managesRoles,
    managesNicknames: may("nicknames"),
    // Nobody can be given the role of everybody, whose ID is the ID of the guild.
    roles: sorted
      .map((role, index) => ({
        id: role.id,
        name: role.name,
        assignable: managesRoles && index > highest && role.managed !== true,
      }))
      .filter((role) => role.id !== id),
  };
};

const isoOrNull = (text: string | null): string | null => {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? null : formatTimestamp(time);
};

const roleMember = ({ user, nick, joined_at, roles, pending }: typeof RoledMember.Type): RoleMember => ({
  chatId: user.id,
  username: user.username,
  displayName: user.global_name ?? user.username,
  nickname: nick,
  roleIds: roles,
  isBot: user.bot === true,
  joined: isoOrNull(joined_at),
  isPending: pending === true,
});
