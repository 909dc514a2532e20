/** The names of pages, buttons and fields in documents are those that people read on the pages. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readDocument } from "./document.ts";

const messagesIn = (file: string): ReadonlyArray<string> =>
  Object.values(
    JSON.parse(readFileSync(new URL(`../../packages/pages/languages/${file}`, import.meta.url), "utf8")),
  );

/** Letter case, markup and plural forms aside. */
const plain = (text: string): string =>
  text
    .replaceAll(/<[^>]+>/g, "")
    .replaceAll("#", "…")
    .replaceAll(/\s+/g, " ")
    .toLowerCase();

const onPages = [...messagesIn("en.json"), ...messagesIn("dashboard/en.json")].map(plain).join("\n");

/** Names of other programs, and examples. */
const others = new Set([
  "Bloxlink Bypass",
  "This rank or higher",
  "Server Settings → Integrations",
  "Officer",
]);

const isExample = (label: string): boolean => label.startsWith("A member who");

test.each(["dashboard", "roles", "alts", "switching", "platforms", "personal_data"])(
  "every page, button and field that docs/%s.md names is on a page",
  (name) => {
    const document = readDocument(`docs/${name}.md`).replaceAll(/```.*?```/gs, "");
    const labels = [...document.matchAll(/(?<![*\w])\*([A-Z][^*]*)\*(?!\*)/g)].map(([, label = ""]) =>
      label.replaceAll(/\s+/g, " "),
    );
    const unknown = labels.filter(
      (label) =>
        !others.has(label) && !isExample(label) && !onPages.includes(plain(label).replace(/\.$/, "")),
    );
    expect(unknown).toEqual([]);
  },
);
