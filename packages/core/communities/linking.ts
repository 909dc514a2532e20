import { Effect, Option } from "effect";
import { type Community, isLinkingOn, mayLink } from "./community.ts";
import { CommunityStore } from "./community_store.ts";

/**
 * Returns a function that tells whether members link in a guild with the links of a scope: its rules are on, or they are
 * paused and no other list has taken the guild over. @internal
 */
export const makeIsOpen = Effect.map(
  CommunityStore,
  ({ findHome }) =>
    (community: Community) =>
      isLinkingOn(community) || !mayLink(community)
        ? Effect.succeed(isLinkingOn(community))
        : Effect.map(
            findHome(community.guildId),
            Option.exists(({ scope }) => scope.pid === community.scope.pid),
          ),
);
