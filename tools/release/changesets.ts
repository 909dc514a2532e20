/** Reads the changesets in `.changeset`, which describe the changes of the next version. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Changeset {
  /** Whether the change is major, minor or patch, by package. */
  readonly packages: Readonly<Record<string, string>>;
  readonly summary: string;
}

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
