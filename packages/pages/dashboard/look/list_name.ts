/** Names of communities and of their lists of links, and the numbers of links. Keys for all communities use the shared list; a key for one community uses the community's own list. */
import { guildOf, type ScopeTarget } from "@accountlink/core";
import type { LinkCount } from "@accountlink/core/communities";
import { durationText, numberText } from "./time.ts";

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

/** From this age on, in milliseconds, the pages say how long ago a number of links was counted. */
const old = 120_000;

/** Formats a number of links. A plus follows the number, as in "2,000+", until the count is complete. */
export const countText = ({ count, age }: LinkCount): string =>
  `${numberText(count)}${age === null ? "+" : ""}`;

export const linksText = (links: LinkCount): string =>
  `${countText(links)} ${links.count === 1 ? "link" : "links"}`;

/** Says how long ago links were counted, or that the count is incomplete; null for a recent count. */
export const countNote = ({ age }: LinkCount): string | null => {
  if (age === null) return "still being counted";
  return age < old ? null : `counted ${durationText(age)} ago`;
};
