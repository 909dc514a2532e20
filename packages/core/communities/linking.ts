import { Effect, Option } from "effect";
import { ChatPlatform, GuildManagers } from "../platforms/mod.ts";
import { type Community, isLinkingOn, mayLink, mayResume } from "./community.ts";
import { CommunityStore } from "./community_store.ts";

/**
 * Returns a function that tells whether members link in one of the communities: its rules are on, or they are paused and
 * no other list has taken its guild over. The platform is asked only after a pause that ends linking until the bot and a
 * manager are back. @internal
 */
export const makeHasOpen = Effect.gen(function* () {
  const { findHome } = yield* CommunityStore;
  const { findGuild } = yield* ChatPlatform;
  const { mayName } = yield* GuildManagers;

  return Effect.fnUntraced(function* (communities: ReadonlyArray<Community>) {
    if (communities.some(isLinkingOn)) return true;
    const paused = [...communities.filter(mayLink), ...communities.filter(mayResume)];
    for (const community of paused) {
      const { scope, guildId } = community;
      if (!Option.exists(yield* findHome(guildId), (home) => home.scope.pid === scope.pid)) continue;
      if (mayLink(community)) return true;
      // An account of the operator may name every guild, also one without the bot.
      if (Option.isSome(yield* findGuild(guildId)) && (yield* mayName(scope, guildId))) return true;
    }
    return false;
  });
});
