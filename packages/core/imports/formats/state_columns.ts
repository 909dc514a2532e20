/** Columns whose names speak of the state of a link, such as `is_deleted` and `link_status`. */

/** What a column says where it is true: that the link holds, or that it is over. */
export type StateSense = "holds" | "over";

/** The last words of names of columns that say whether a link holds. @internal */
export const holdingStates = words(
  "verified, active, enabled, valid, approved, accepted, confirmed, completed, complete, linked, status, state, action",
);

/** The last words of names of columns that say whether, or since when, a link is over. @internal */
export const endedStates = words(
  "deleted, removed, disabled, banned, blocked, blacklisted, suspended, unlinked, unverified, revoked, expired, " +
    "archived, inactive, invalid, pending, rejected, denied, cancelled, canceled",
);

/** The words that such a name may have before its state. @internal */
export const stateFillers = words(
  "is, was, has, been, link, links, linked, verification, verify, account, user, member, record, row, current",
);

export function words(list: string): ReadonlySet<string> {
  return new Set(list.split(", "));
}

/** Splits a name into its words in lower case. */
export const wordsOf = (name: string): ReadonlyArray<string> =>
  name
    .replaceAll(/(\p{Ll}|\d)(?=\p{Lu})/gu, "$1 ")
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== "");

/**
 * Returns what a column says by its name. `unclear` if the name has the state of something else, such as
 * `email_status`; null if the name has no state.
 */
export const stateSenseOf = (name: string): StateSense | "unclear" | null => {
  const all = wordsOf(name);
  const untimed = all.findLastIndex((word) => !timeWords.has(word));
  const last = all[untimed] ?? "";
  // Databases without letter case have `isdeleted` and `deletedat`.
  const state = last.replace(/^is/, "");
  const isOver = endedStates.has(state) || endedStates.has(state.replace(/(?:at|on)$/, ""));
  const holds = holdingStates.has(state) && untimed === all.length - 1;
  if (!isOver && !holds) return null;
  if (!all.slice(0, untimed).every((word) => stateFillers.has(word))) return "unclear";
  return isOver ? "over" : "holds";
};

const timeWords = words("at, on, date, time, timestamp, since, ts");
