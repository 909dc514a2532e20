/** Generates the pages of the API reference as Markdown, one per entry point. */
import { errorCodes } from "@accountlink/http-api";
import type { Example } from "../doc_examples.ts";
import { errorPath } from "./error_pages.ts";
import { anchorOf } from "./markdown.ts";
import type { EntrySurface, PublicName } from "./public_surface.ts";

export const referencePath = (specifier: string): string =>
  `api/${specifier.replace("@accountlink/", "").replaceAll("/", ".")}.html`;

const proseOf = (comment: string): string =>
  comment
    .replace(/^@example[ \t]*(.*)$/gm, "**Example** $1\n")
    .replace(/^@param (\S+) /gm, "- `$1`: ")
    .replace(/^@(returns|throws) /gm, "- $1 ")
    .replace(/\{@link ([^}]+)\}/g, "`$1`");

const declarationOf = (text: string): string => text.replace(/^export /, "");

export const referenceMarkdown = (
  { specifier, comment, names }: EntrySurface,
  originOf: (name: PublicName) => PublicName,
  examples: ReadonlyMap<string, ReadonlyArray<Example>>,
  /** A link to an example on the site; null if it is not on the site. */
  linkTo: (example: Example) => string | null,
): string => {
  const shown = new Map<Example, string>();
  const parts = names.toSorted(byName).map((name) => {
    const source = originOf(name);
    // A namespace of another package is that package's whole page.
    const anchor = source === name ? "" : `#${anchorOf(name.name)}`;
    const from =
      name.origin === null
        ? []
        : [`From [\`${name.origin}\`](${referencePath(name.origin).slice("api/".length)}${anchor}).`];
    const ofName = (examples.get(source.id) ?? []).filter(({ code }) => !hasExample(source.comment, code));
    // The module comment behind a namespace is on no page, so the first of its names shows the example.
    const first = ofName.find((example) => linkTo(example) === null && !shown.has(example));
    const links = ofName.map((example) => linkTo(example) ?? shown.get(example) ?? null);
    const distinct = [...new Set(links)].filter((link) => link !== null).slice(0, 5);
    const used = [
      ...(distinct.length === 0 ? [] : [`In examples that run: ${distinct.join(", ")}`]),
      ...(first === undefined ? [] : [`**Example**\n\n\`\`\`ts\n${first.code}\n\`\`\``]),
    ];
    if (first !== undefined) shown.set(first, `[${name.name}](#${anchorOf(name.name)})`);
    const code = source.declarations.map(declarationOf).join("\n\n");
    const declared = code === "" ? [] : [`\`\`\`typescript\n${code}\n\`\`\``, ...errorPages(code)];
    return [`## ${name.name}`, ...from, proseOf(source.comment), ...declared, ...used].join("\n\n");
  });
  return [`# ${specifier}`, proseOf(comment), ...parts].join("\n\n");
};

/** Links to the pages of the error codes in a declaration. */
const errorPages = (declaration: string): ReadonlyArray<string> => {
  const codes = errorCodes.filter((code) => new RegExp(`\\b${code}\\b`).test(declaration));
  if (codes.length === 0) return [];
  return [`Pages of errors: ${codes.map((code) => `[${code}](../${errorPath(code)})`).join(" · ")}`];
};

export const hasExample = (comment: string, code: string): boolean => comment.includes(`\n${code}\n`);

const byName = (one: PublicName, other: PublicName): number => one.name.localeCompare(other.name);
