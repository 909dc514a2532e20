import type { LinkCount } from "@accountlink/core/communities";
import { durationText, numberText } from "./time.ts";

/** From when on a number is shown with its age, in milliseconds. */
const old = 120_000;

/** A number of links, which is "2,000+" while they are counted. */
export const countText = ({ count, age }: LinkCount): string =>
  `${numberText(count)}${age === null ? "+" : ""}`;

export const linksText = (links: LinkCount): string =>
  `${countText(links)} ${links.count === 1 ? "link" : "links"}`;

/** What to know about a number that is not as it is now; null for one that is. */
export const countNote = ({ age }: LinkCount): string | null => {
  if (age === null) return "still being counted";
  return age < old ? null : `counted ${durationText(age)} ago`;
};
