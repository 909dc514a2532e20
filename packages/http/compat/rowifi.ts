import type { LinkLookup } from "@accountlink/core";
import { Rowifi } from "@accountlink/http-api";
import { Effect } from "effect";
import type { BoundRoute, KeyedInput, Pipeline } from "../pipeline/pipeline.ts";
import { bareRoutes, exactNumber } from "./bare_routes.ts";

export const rowifiRoutes = (
  pipeline: Pipeline,
  lookup: LinkLookup["Service"],
): ReadonlyArray<BoundRoute> => {
  const bare = bareRoutes(pipeline, Rowifi.rowifi);
  const consent = { reverse_search_consent: true } as const;

  const member = Effect.fnUntraced(function* ({
    key,
    values,
  }: KeyedInput<typeof Rowifi.memberV3.parameters>) {
    const { discordId, guildId } = values;
    const { gameId } = yield* lookup.byChat(key.scope, discordId, { guildId });
    return { discord_id: discordId, guild_id: guildId, roblox_id: yield* exactNumber(gameId) };
  });

  const members = ({ key, values }: KeyedInput<typeof Rowifi.membersOfRobloxV3.parameters>) =>
    Effect.map(lookup.byGame(key.scope, values.robloxId, { guildId: values.guildId }), ({ chatIds }) =>
      chatIds.map((chatId) => ({ discord_id: chatId })),
    );

  return [
    bare(Rowifi.memberV3, member),
    bare(Rowifi.membersOfRobloxV3, members),
    bare(Rowifi.memberV2, (input) => Effect.map(member(input), (found) => ({ ...found, ...consent }))),
    bare(Rowifi.membersOfRobloxV2, (input) =>
      Effect.map(members(input), (found) => found.map((each) => ({ ...each, ...consent }))),
    ),
  ];
};
