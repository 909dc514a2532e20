/**
 * The chat platform's API, as the bot of the service sees it: only guilds that it is in.
 */
import type { Guild } from "@accountlink/core";
import type { MemberFixture } from "@accountlink/core/fixture";
import { Effect, Redacted } from "effect";
import { HttpServerRequest, type HttpServerResponse } from "effect/http";
import type { Guilds, Member, Members } from "../wire.ts";
import { type Answer, answerFromPath, json, refuse } from "./answers.ts";
import { bearerToken } from "./credentials.ts";
import { platformRoute, type Stage } from "./platform_route.ts";
import type { WorldGuild } from "./world.ts";

/**
 * The routes under `/chat/api` that are for the bot.
 *
 * @param botToken what the bot must send as its bearer token
 */
export const chatApi = (stage: Stage, botToken: Redacted.Redacted) => {
  const { guilds, chatUsers } = stage.world;

  const route = (path: `/${string}`, answer: Answer) =>
    platformRoute(stage, {
      platform: "chat",
      method: "GET",
      path: `/chat/api${path}`,
      answer: Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
        bearerToken(headers) === Redacted.value(botToken)
          ? answerFromPath(answer)
          : Effect.succeed(refuse("unauthorized")),
      ),
    });

  const inGuild =
    (answer: (guild: WorldGuild, chatId: string) => HttpServerResponse.HttpServerResponse): Answer =>
    ({ guildId = "", chatId = "" }) => {
      const guild = guilds.get(guildId);
      return guild?.hasBot ? answer(guild, chatId) : refuse("unknown_guild");
    };

  return [
    route("/bot/guilds", () => {
      const joined = [...guilds.values()].filter(({ hasBot }) => hasBot);
      return json({ guilds: joined.map(shownGuild) } satisfies typeof Guilds.Type);
    }),

    route(
      "/guilds/:guildId",
      inGuild((guild) => json(shownGuild(guild))),
    ),

    route(
      "/guilds/:guildId/members",
      inGuild(({ members }) =>
        json({ members: [...members.values()].map(shownMember) } satisfies typeof Members.Type),
      ),
    ),

    route(
      "/guilds/:guildId/members/:chatId",
      inGuild(({ members }, chatId) => {
        const member = members.get(chatId);
        if (member !== undefined) return json(shownMember(member));
        return refuse(chatUsers.has(chatId) ? "unknown_member" : "unknown_user");
      }),
    ),

    route("/users/:chatId", ({ chatId = "" }) => {
      const user = chatUsers.get(chatId);
      return user === undefined ? refuse("unknown_user") : json(user);
    }),
  ];
};

const shownGuild = ({ id, name }: WorldGuild): Guild => ({ id, name });

const shownMember = ({ chatId, nickname, joined, roles }: MemberFixture): typeof Member.Type => ({
  chatId,
  nickname,
  joined,
  roles,
});
