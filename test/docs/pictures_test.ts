import { globSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const files = globSync("docs/pictures/*.png", { cwd: root }).toSorted();
const documents = ["README.md", ...globSync("docs/*.md", { cwd: root })];

/** The pictures that a document shows, each in its light and its dark version. */
const shownIn = (document: string): ReadonlyArray<readonly [light: string, dark: string]> =>
  [
    ...readFileSync(join(root, document), "utf8").matchAll(
      /<picture><source media="\(prefers-color-scheme: dark\)" srcset="(.*?)"><img alt=".+?" src="(.*?)"><\/picture>/g,
    ),
  ].map(
    ([, dark = "", light = ""]) => [join(dirname(document), light), join(dirname(document), dark)] as const,
  );

it("each picture is shown in a document, in a light and a dark version", () => {
  const shown = documents.flatMap(shownIn);
  expect([...new Set(shown.flat())].toSorted()).toEqual(files);
  for (const [light, dark] of shown) expect(dark).toBe(light.replace("-light.png", "-dark.png"));
  const written = documents.flatMap((document) =>
    [...readFileSync(join(root, document), "utf8").matchAll(/<img /g)].map(() => document),
  );
  expect(written).toHaveLength(shown.length);
});

it.each(files.map((file) => [basename(file), file]))("%s is small enough for a page", (_, file) => {
  expect(statSync(join(root, file)).size).toBeLessThanOrEqual(120_000);
});
