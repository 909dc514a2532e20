/**
 * Names of communities and of their lists of links. Keys for all communities use the shared list; a key for one
 * community uses the community's own list.
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

/** Returns the name of a list of links for use inside a sentence. */
export const listText = (community: Named): string =>
  community.scope.kind === "global" ? "the shared list" : listName(community);

/** Returns the message of an error, with "community" instead of "guild". */
export const messageText = ({ message }: { readonly message: string }): string =>
  message.replace("guild", "community");

export const sharedListHint = "One list of links for all of your communities";
