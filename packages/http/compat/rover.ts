import type { ChatId, LinkLookup } from "@accountlink/core";
import type { ChatProfile, Profiles } from "@accountlink/core/platforms";
import { Rover } from "@accountlink/http-api";
import { Effect } from "effect";
import type { BoundRoute, Pipeline } from "../pipeline/pipeline.ts";
import { bareRoutes, exactNumber } from "./bare_routes.ts";

export const roverRoutes = (
  pipeline: Pipeline,
  lookup: LinkLookup["Service"],
  profiles: Profiles["Service"],
): ReadonlyArray<BoundRoute> => {
  const bare = bareRoutes(pipeline, Rover.rover);
  return [
    bare(
      Rover.discordToRoblox,
      Effect.fnUntraced(function* ({ key, values: { discordId, guildId } }) {
        const { gameId } = yield* lookup.byChat(key.scope, discordId, { guildId });
        const robloxId = yield* exactNumber(gameId);
        const profile = yield* profiles.game(gameId);
        return { robloxId, cachedUsername: profile?.username ?? "", discordId, guildId };
      }),
    ),
    bare(
      Rover.robloxToDiscord,
      Effect.fnUntraced(function* ({ key, values }) {
        const { guildId } = values;
        const { chatIds, gameId } = yield* lookup.byGame(key.scope, values.robloxId, { guildId });
        const robloxId = yield* exactNumber(gameId);
        const members = yield* profiles.chats(chatIds, guildId);
        const discordUsers = chatIds.map((chatId, index) => discordUser(chatId, members[index] ?? null));
        return { discordUsers, robloxId, guildId };
      }),
    ),
  ];
};

const discordUser = (id: ChatId, profile: ChatProfile | null) => ({
  user: { id, username: profile?.username ?? "" },
  nick: profile?.guild?.nickname ?? null,
  roles: profile?.guild?.roles.map((role) => role.id) ?? [],
});
