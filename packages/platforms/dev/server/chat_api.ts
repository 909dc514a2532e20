/** The simulated chat platform's API for the bot, which sees only its own guilds. */
import type { FixtureGuild, MemberFixture } from "@accountlink/core/fixture";
import type { Guild, RoleRefused } from "@accountlink/core/platforms";
import { Effect, Redacted } from "effect";
import { HttpServerRequest } from "effect/http";
import { bearerToken } from "../oauth/authorization_header.ts";
import {
  done,
  fromPath,
  json,
  type PathHandler,
  platformRoute,
  refuse,
  type Simulation,
  userOfName,
} from "../simulation.ts";
import {
  type Guilds,
  type Joins,
  MemberChange,
  type Members,
  type NamedMember,
  type Roles,
} from "../wire.ts";

/**
 * The routes under `/chat/api` for the bot.
 *
 * @param botToken the bearer token that these routes require
 */
export const chatApi = (simulation: Simulation, botToken: Redacted.Redacted) => {
  const { guilds, chatUsers, joins } = simulation.platforms;

  type Route<R> = Parameters<typeof platformRoute<R>>;

  const forBot = <R>(method: Route<R>[1], path: `/${string}`, handler: Route<R>[3]) =>
    platformRoute(
      simulation,
      method,
      `/chat/api${path}`,
      Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
        bearerToken(headers) === Redacted.value(botToken) ? handler : Effect.succeed(refuse("unauthorized")),
      ),
    );

  const route = (path: `/${string}`, handler: PathHandler) => forBot("GET", path, fromPath(handler));

  type Values = Parameters<PathHandler>[0];

  const inGuild =
    (
      handler: (guild: FixtureGuild, chatId: string, values: Values) => ReturnType<PathHandler>,
    ): PathHandler =>
    (values) => {
      const { guildId = "", chatId = "" } = values;
      const guild = guilds.get(guildId);
      return guild?.hasBot ? handler(guild, chatId, values) : refuse("unknown_guild");
    };

  const memberBody = ({
    chatId,
    manager,
    nickname,
    joined,
    roles,
  }: MemberFixture): typeof NamedMember.Type => {
    const { username = null, displayName = null } = chatUsers.get(chatId) ?? {};
    return { chatId, manager, nickname, joined, roles, username, displayName };
  };

  const missing = (chatId: string) => refuse(chatUsers.has(chatId) ? "unknown_member" : "unknown_user");

  const changed = (change: boolean | RoleRefused, chatId: string) => {
    if (change === false) return missing(chatId);
    return change === true ? done : refuse(change.reason);
  };

  const setRole = (method: "PUT" | "DELETE") =>
    forBot(
      method,
      "/guilds/:guildId/members/:chatId/roles/:roleId",
      fromPath(
        inGuild((guild, chatId, { roleId = "" }) =>
          changed(guild.setRole(chatId, roleId, method === "PUT"), chatId),
        ),
      ),
    );

  return [
    route("/bot/guilds", () => {
      const joined = [...guilds.values()].filter(({ hasBot }) => hasBot);
      return json({ guilds: joined.map(guildBody) } satisfies typeof Guilds.Type);
    }),

    route("/joins", ({ after }) =>
      json({
        joins: joins.slice(after === undefined ? joins.length : Number(after)),
        position: joins.length,
      } satisfies typeof Joins.Type),
    ),

    route(
      "/guilds/:guildId",
      inGuild((guild) => json(guildBody(guild))),
    ),

    route(
      "/guilds/:guildId/roles",
      inGuild(({ roles, memberCount }) =>
        json({ roles: [...roles.values()], memberCount } satisfies typeof Roles.Type),
      ),
    ),

    route(
      "/guilds/:guildId/members",
      inGuild((guild, _, { after = null }) =>
        json({ members: guild.page(after).map(memberBody) } satisfies typeof Members.Type),
      ),
    ),

    route(
      "/guilds/:guildId/members/search",
      inGuild((guild, _, { query = "", limit = "1" }) => {
        const found = guild.search(query, Number(limit), chatUsers);
        return json({ members: found.map(memberBody) } satisfies typeof Members.Type);
      }),
    ),

    route(
      "/guilds/:guildId/members/:chatId",
      inGuild((guild, chatId) => {
        const member = guild.member(chatId);
        return member === undefined ? missing(chatId) : json(memberBody(member));
      }),
    ),

    setRole("PUT"),
    setRole("DELETE"),

    forBot(
      "PATCH",
      "/guilds/:guildId/members/:chatId",
      HttpServerRequest.schemaBodyJson(MemberChange).pipe(
        Effect.flatMap(({ nickname }) =>
          fromPath(inGuild((guild, chatId) => changed(guild.setNickname(chatId, nickname), chatId))),
        ),
        Effect.catch(() => Effect.succeed(refuse("invalid_request"))),
      ),
    ),

    route("/users/by-name/:username", ({ username = "" }) => {
      const user = userOfName(chatUsers, username);
      return user === undefined ? refuse("unknown_user") : json(user);
    }),

    route("/users/:chatId", ({ chatId = "" }) => {
      const user = chatUsers.get(chatId);
      return user === undefined ? refuse("unknown_user") : json(user);
    }),
  ];
};

const guildBody = ({ id, name }: FixtureGuild): Guild => ({ id, name });
