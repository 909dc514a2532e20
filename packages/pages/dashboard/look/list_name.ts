/**
 * Names of communities and of their lists of links: the shared list for keys of all communities, and the own list of one
 * community for its keys.
 */
import { guildOf, type ScopeTarget } from "@accountlink/core";

interface Named {
  readonly scope: ScopeTarget;
  /** The name on the chat platform; null if unknown. */
  readonly guildName: string | null;
}

export const communityName = ({ scope, guildName }: Named): string => {
  const guildId = guildOf(scope);
  return guildId === null ? "Shared list" : (guildName ?? `Community ${guildId}`);
};

export const listName = (community: Named): string =>
  community.scope.kind === "global" ? "Shared list" : `${communityName(community)}’s own list`;

/** The name of a list within a sentence. */
export const listText = (community: Named): string =>
  community.scope.kind === "global" ? "the shared list" : listName(community);

export const sharedListHint = "One list of links for all of your communities";
