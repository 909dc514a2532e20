/** The changesets of `.changeset`: changes that the next version will announce. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Changeset {
  /** How a version rises with it, by package. */
  readonly packages: Readonly<Record<string, string>>;
  readonly summary: string;
}

/**
 * Reads those that are pending.
 *
 * @param root the repository
 */
export const pendingChangesets = (root: string): ReadonlyArray<Changeset> =>
  globSync(".changeset/*.md", { cwd: root })
    .toSorted()
    .map((file) => parseChangeset(file, readFileSync(join(root, file), "utf8")));

const parseChangeset = (file: string, text: string): Changeset => {
  const [, head, summary] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? [];
  const packages = [...(head?.matchAll(/^"([^"]+)": (major|minor|patch)$/gm) ?? [])];
  if (summary === undefined || summary.trim() === "" || packages.length !== head?.split("\n").length)
    throw new Error(
      `Cannot read ${file}: expected lines such as '"@accountlink/core": minor' between two '---', then a summary`,
    );
  return {
    packages: Object.fromEntries(packages.map(([, name, rise]) => [name, rise])),
    summary: summary.trim(),
  };
};
