import type { LinkCount } from "@accountlink/core/communities";
import { durationText, numberText } from "./time.ts";

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
