import { Effect, Option } from "effect";
import { type Community, isLinkingOn, mayLink } from "./community.ts";
import { CommunityStore } from "./community_store.ts";

/**
 * Returns a function that tells whether members link in one of the communities: its rules are on, or they are paused and
 * no other list has taken its guild over. @internal
 */
export const makeHasOpen = Effect.map(CommunityStore, ({ findHome }) =>
  Effect.fnUntraced(function* (communities: ReadonlyArray<Community>) {
    if (communities.some(isLinkingOn)) return true;
    for (const { scope, guildId } of communities.filter(mayLink)) {
      if (Option.exists(yield* findHome(guildId), (home) => home.scope.pid === scope.pid)) return true;
    }
    return false;
  }),
);
