/** The pages of the API reference as Markdown: one for each entry point. */
import type { EntrySurface, PublicName } from "../api/public_surface.ts";
import type { Example } from "../doc_examples.ts";
import { anchorOf } from "./markdown.ts";

export const referencePath = (specifier: string): string =>
  `api/${specifier.replace("@accountlink/", "").replaceAll("/", ".")}.html`;

/** A comment with its tags as text. */
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
  /** A link to an example's document; null if it has no page. */
  linkTo: (example: Example) => string | null,
): string => {
  const parts = names.toSorted(byName).map((name) => {
    const source = originOf(name);
    const from =
      name.origin === null
        ? []
        : [
            `From [\`${name.origin}\`](${referencePath(name.origin).slice("api/".length)}#${anchorOf(name.name)}).`,
          ];
    const links = (examples.get(source.id) ?? [])
      .map(linkTo)
      .filter((link) => link !== null)
      .slice(0, 5);
    const used = links.length === 0 ? [] : [`In examples that run: ${[...new Set(links)].join(", ")}`];
    const code = `\`\`\`typescript\n${source.declarations.map(declarationOf).join("\n\n")}\n\`\`\``;
    return [`## ${name.name}`, ...from, proseOf(source.comment), code, ...used].join("\n\n");
  });
  return [`# ${specifier}`, proseOf(comment), ...parts].join("\n\n");
};

const byName = (one: PublicName, other: PublicName): number => one.name.localeCompare(other.name);
