/** Writes the changelog, which all packages share, since they share a version. */
import type { Changeset } from "./changesets.ts";

const headings = { major: "Breaking changes", minor: "Added", patch: "Fixed" } as const;

/**
 * Adds a version above the others.
 *
 * @param date the day of the release, such as `2026-11-21`
 */
export const withVersion = (
  changelog: string,
  version: string,
  date: string,
  changesets: ReadonlyArray<Changeset>,
): string => {
  const sections = Object.entries(headings).flatMap(([rise, heading]) => {
    const changes = changesets.filter(({ packages }) => greatestOf(packages) === rise);
    return changes.length === 0
      ? []
      : [`### ${heading}\n\n${changes.map((change) => entryOf(change)).join("\n")}`];
  });
  const first = changelog.search(/^## /m);
  const head = first === -1 ? `${changelog.trimEnd()}\n\n` : changelog.slice(0, first);
  const rest = first === -1 ? "" : `\n${changelog.slice(first)}`;
  return `${head}${[`## ${version}, ${date}`, ...sections].join("\n\n")}\n${rest}`;
};

/** Returns the greatest rise among the packages of a change. A major rise is the greatest, a patch the smallest. */
const greatestOf = (packages: Changeset["packages"]): string | undefined =>
  Object.keys(headings).find((rise) => Object.values(packages).includes(rise));

const entryOf = ({ packages, summary }: Changeset): string =>
  `- ${summary.replaceAll("\n", "\n  ")} (${Object.keys(packages).join(", ")})`;
