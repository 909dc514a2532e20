/** The simulated chat platform's API for the bot, which sees only its own guilds. */
import type { MemberFixture } from "@accountlink/core/fixture";
import type { Guild } from "@accountlink/core/platforms";
import { Effect, Redacted } from "effect";
import { HttpServerRequest, type HttpServerResponse } from "effect/http";
import { bearerToken } from "../oauth/authorization_header.ts";
import { platformRoute, type Simulation } from "../simulation/platform_route.ts";
import { type GuildState, userOfName } from "../simulation/platform_state.ts";
import { fromPath, json, type PathHandler, refuse } from "../simulation/responses.ts";
import type { Guilds, Member, Members } from "../wire.ts";

/**
 * The routes under `/chat/api` for the bot.
 *
 * @param botToken the bearer token that these routes require
 */
export const chatApi = (simulation: Simulation, botToken: Redacted.Redacted) => {
  const { guilds, chatUsers } = simulation.platforms;

  const route = (path: `/${string}`, handler: PathHandler) =>
    platformRoute(simulation, {
      platform: "chat",
      method: "GET",
      path: `/chat/api${path}`,
      handler: Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
        bearerToken(headers) === Redacted.value(botToken)
          ? fromPath(handler)
          : Effect.succeed(refuse("unauthorized")),
      ),
    });

  const inGuild =
    (handler: (guild: GuildState, chatId: string) => HttpServerResponse.HttpServerResponse): PathHandler =>
    ({ guildId = "", chatId = "" }) => {
      const guild = guilds.get(guildId);
      return guild?.hasBot ? handler(guild, chatId) : refuse("unknown_guild");
    };

  return [
    route("/bot/guilds", () => {
      const joined = [...guilds.values()].filter(({ hasBot }) => hasBot);
      return json({ guilds: joined.map(guildBody) } satisfies typeof Guilds.Type);
    }),

    route(
      "/guilds/:guildId",
      inGuild((guild) => json(guildBody(guild))),
    ),

    route(
      "/guilds/:guildId/members",
      inGuild(({ members }) =>
        json({ members: [...members.values()].map(memberBody) } satisfies typeof Members.Type),
      ),
    ),

    route(
      "/guilds/:guildId/members/:chatId",
      inGuild(({ members }, chatId) => {
        const member = members.get(chatId);
        if (member !== undefined) return json(memberBody(member));
        return refuse(chatUsers.has(chatId) ? "unknown_member" : "unknown_user");
      }),
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

const guildBody = ({ id, name }: GuildState): Guild => ({ id, name });

const memberBody = ({ chatId, manager, nickname, joined, roles }: MemberFixture): typeof Member.Type => ({
  chatId,
  manager,
  nickname,
  joined,
  roles,
});
