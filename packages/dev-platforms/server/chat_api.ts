/** The simulated chat platform's API for the bot, which sees only its own guilds. */
import { chatUserOfFixture, type FixtureGuild, type MemberFixture } from "@accountlink/core/fixture";
import { PostRefused, type RoleRefused } from "@accountlink/core/platforms";
import { Effect, Redacted, type Schema } from "effect";
import { HttpServerRequest } from "effect/http";
import {
  bearerToken,
  done,
  foundOr,
  fromPath,
  json,
  type PathHandler,
  platformRoute,
  refuse,
  type Simulation,
  userOfName,
} from "../simulation.ts";
import { AnswerMessage, type Joins, type Member, MemberChange, NewMessage, NewRole } from "../wire.ts";

const closed = new PostRefused({ reason: "channel_closed" });

const posted = (outcome: string | boolean | PostRefused = closed) => {
  if (outcome instanceof PostRefused) return refuse(outcome.reason);
  if (typeof outcome === "string") return json({ id: outcome });
  return outcome ? done : refuse("unknown_message");
};

/**
 * The routes under `/chat/api` for the bot.
 *
 * @param botToken the bearer token that these routes require
 */
export const chatApi = (simulation: Simulation, botToken: Redacted.Redacted) => {
  const { guilds, chatUsers, joins, privateMessages } = simulation.platforms;

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

  /** A route whose requests have a JSON body. */
  const withBody = <A>(
    method: "POST" | "PATCH",
    path: `/${string}`,
    schema: Schema.ConstraintDecoder<A>,
    handler: (body: A, values: Values) => ReturnType<PathHandler>,
  ) =>
    forBot(
      method,
      path,
      HttpServerRequest.schemaBodyJson(schema).pipe(
        Effect.flatMap((body) => fromPath((values) => handler(body, values))),
        Effect.catch(() => Effect.succeed(refuse("invalid_request"))),
      ),
    );

  const guildOf = (channelId: string) => [...guilds.values()].find(({ channels }) => channels.has(channelId));

  const memberBody = (member: MemberFixture): typeof Member.Type => {
    const { username = null, displayName = null } = chatUsers.get(member.chatId) ?? {};
    return { ...member, username, displayName };
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
    route("/bot/guilds", ({ id: wanted }) => {
      const joined = [...guilds.values()].filter(
        ({ id, hasBot }) => hasBot && (wanted === undefined || id === wanted),
      );
      return json({ guilds: joined.map(({ id, name }) => ({ id, name })) });
    }),

    route("/joins", ({ after }) =>
      json({
        joins: joins.slice(after === undefined ? joins.length : Number(after)),
        position: joins.length,
      } satisfies typeof Joins.Type),
    ),

    route(
      "/guilds/:guildId/channels",
      inGuild(({ channels, locale }) => json({ channels: [...channels.values()], locale })),
    ),

    withBody(
      "POST",
      "/channels/:channelId/messages",
      NewMessage,
      ({ nonce, ...message }, { channelId = "" }) =>
        posted(guildOf(channelId)?.post(channelId, message, nonce)),
    ),

    withBody("POST", "/users/:chatId/messages", NewMessage, ({ nonce = "", ...message }, { chatId = "" }) => {
      if (!chatUsers.has(chatId)) return refuse("unknown_user");
      const received = privateMessages.get(chatId) ?? new Map<string, AnswerMessage>();
      privateMessages.set(chatId, received.set(nonce, message));
      return done;
    }),

    withBody(
      "PATCH",
      "/channels/:channelId/messages/:messageId",
      AnswerMessage,
      (message, { channelId = "", messageId = "" }) =>
        posted(guildOf(channelId)?.edit(channelId, messageId, message)),
    ),

    withBody("POST", "/guilds/:guildId/roles", NewRole, ({ name }, values) =>
      inGuild((guild) => json({ id: guild.makeRole(name) }))(values),
    ),

    route(
      "/guilds/:guildId/roles",
      inGuild(({ roles, memberCount }) => json({ roles: [...roles.values()], memberCount })),
    ),

    route(
      "/guilds/:guildId/members",
      inGuild((guild, _, { after = null, ids }) => {
        const named = ids?.split(",").flatMap((chatId) => guild.member(chatId) ?? []);
        const { members, next } = named === undefined ? guild.page(after) : { members: named, next: null };
        return json({ members: members.map(memberBody), next });
      }),
    ),

    route(
      "/guilds/:guildId/members/search",
      inGuild((guild, _, { query = "", limit = "1" }) =>
        json({ members: guild.search(query, Number(limit), chatUsers).map(memberBody) }),
      ),
    ),

    route(
      "/guilds/:guildId/members/:chatId",
      inGuild((guild, chatId) => {
        const member = guild.member(chatId);
        return member === undefined
          ? missing(chatId)
          : json({ ...memberBody(member), manager: guild.isManager(chatId) });
      }),
    ),

    route(
      "/guilds/:guildId/members/:chatId/nameable",
      inGuild((guild, chatId) => json({ roleIds: [...guild.nameable(chatId)] })),
    ),

    setRole("PUT"),
    setRole("DELETE"),

    withBody("PATCH", "/guilds/:guildId/members/:chatId", MemberChange, ({ nickname }, values) =>
      inGuild((guild, chatId) => changed(guild.setNickname(chatId, nickname), chatId))(values),
    ),

    route("/users/by-name", ({ username = "" }) => foundOr("unknown_user", userOfName(chatUsers, username))),

    route("/users/:chatId", ({ chatId = "" }) => {
      const user = chatUsers.get(chatId);
      return foundOr("unknown_user", user && chatUserOfFixture(user));
    }),
  ];
};
