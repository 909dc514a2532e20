/** Which list of links counts in a guild: the one that the rules ask, which may be the shared list. */
import { type DataScope, type GuildId, guildOf } from "@accountlink/core";
import { CommunityStore } from "@accountlink/core/communities";
import { isGuildId } from "@accountlink/core/ids";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { Profiles } from "@accountlink/core/platforms";
import { Effect, Option } from "effect";
import type { Html } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { communityName, guildText } from "../look/names.ts";

/** The most guilds of a shared list that a menu names, because each name takes a lookup. */
const mostShared = 20;

export interface AskedGuild {
  readonly guildId: GuildId;
  readonly name: string | Html;
}

export const makeAskedLists = Effect.gen(function* () {
  const store = yield* CommunityStore;
  const profiles = yield* Profiles;

  return {
    /** Returns the guilds with a list of their own, then those in which a shared list is used. */
    guilds: Effect.fnUntraced(function* (lists: ReadonlyArray<Community>) {
      const own = lists.flatMap((list): ReadonlyArray<AskedGuild> => {
        const guildId = guildOf(list.scope);
        return guildId === null ? [] : [{ guildId, name: communityName(list) }];
      });
      const shared: Array<GuildId> = [];
      for (const { scope } of lists) {
        if (scope.kind === "global")
          shared.push(...(yield* store.list(scope.pid)).map(({ guildId }) => guildId));
      }
      const others = [...new Set(shared)].filter((id) => !own.some(({ guildId }) => guildId === id));
      const named = yield* forEachLimited(others.slice(0, mostShared), 8, (guildId) =>
        Effect.map(profiles.guild(guildId), (found): AskedGuild => {
          return { guildId, name: guildText(guildId, found?.name ?? null) };
        }),
      );
      return [...own, ...named];
    }),

    /**
     * Returns the list that the rules of a guild ask; without rules, the guild's own list. Null if none of these lists
     * is used in the guild.
     */
    listOf: Effect.fnUntraced(function* (lists: ReadonlyArray<Community>, guildId: string) {
      if (!isGuildId(guildId)) return null;
      const home = Option.getOrNull(yield* store.findHome(guildId));
      const asked = (is: (scope: DataScope) => boolean) => lists.find(({ scope }) => is(scope))?.scope;
      return (
        asked(({ pid }) => pid === home?.scope.pid) ??
        asked((scope) => guildOf(scope) === guildId) ??
        asked(({ kind }) => kind === "global") ??
        null
      );
    }),
  };
});
