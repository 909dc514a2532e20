/**
 * The chat platform's API, as the bot of the service sees it: only guilds that it is in.
 */
import type { MemberFixture } from "@accountlink/core/fixture";
import type { Guild, Guilds, Member, Members } from "../wire.ts";
import { json, refuse } from "./answers.ts";
import { type PlatformRoute, platformRoute, type Stage } from "./platform_route.ts";
import type { WorldGuild } from "./world.ts";

/** The routes under `/chat/api`. All of them are for the bot. */
export const chatApi = (stage: Stage) => {
  const { guilds, chatUsers } = stage.world;
  const route = (path: `/${string}`, answer: PlatformRoute["answer"]) =>
    platformRoute(stage, { platform: "chat", path: `/chat/api${path}`, forBot: true, answer });

  const inGuild =
    (
      answer: (guild: WorldGuild, chatId: string) => ReturnType<PlatformRoute["answer"]>,
    ): PlatformRoute["answer"] =>
    ({ guildId = "", chatId = "" }) => {
      const guild = guilds.get(guildId);
      return guild?.hasBot ? answer(guild, chatId) : refuse("unknown_guild");
    };

  return [
    route("/bot/guilds", () => {
      const joined = [...guilds].filter(([, guild]) => guild.hasBot);
      return json({ guilds: joined.map(([id]) => ({ id })) } satisfies typeof Guilds.Type);
    }),

    route("/guilds/:guildId", ({ guildId = "" }) =>
      guilds.get(guildId)?.hasBot
        ? json({ id: guildId } satisfies typeof Guild.Type)
        : refuse("unknown_guild"),
    ),

    route(
      "/guilds/:guildId/members",
      inGuild(({ members }) =>
        json({ members: [...members.values()].map(shown) } satisfies typeof Members.Type),
      ),
    ),

    route(
      "/guilds/:guildId/members/:chatId",
      inGuild(({ members }, chatId) => {
        const member = members.get(chatId);
        if (member !== undefined) return json(shown(member));
        return refuse(chatUsers.has(chatId) ? "unknown_member" : "unknown_user");
      }),
    ),

    route("/users/:chatId", ({ chatId = "" }) => {
      const user = chatUsers.get(chatId);
      return user === undefined ? refuse("unknown_user") : json(user);
    }),
  ];
};

const shown = ({ chatId, nickname, joined, roles }: MemberFixture): typeof Member.Type => ({
  chatId,
  nickname,
  joined,
  roles,
});
