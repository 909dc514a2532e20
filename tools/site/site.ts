/**
 * Builds the documentation as pages that open from a disk: guides, API reference, changelog and search. Run as a
 * program, it writes into the given folder, by default `dist/guide`.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { errorCodes } from "@accountlink/http-api";
import { compile } from "../compile.ts";
import type { Example } from "../doc_examples.ts";
import { publishablePackages, root } from "../publishable.ts";
import { errorMarkdown, errorPath, withErrorLinks } from "./error_pages.ts";
import { examplesByName, makeNames, readExamples } from "./examples.ts";
import { anchorOf, linksOf, type Rendered, render } from "./markdown.ts";
import { type NavigationGroup, pageHtml } from "./page.ts";
import { type EntrySurface, publicSurfaceOf } from "./public_surface.ts";
import { hasExample, referenceMarkdown, referencePath } from "./reference.ts";
import { style } from "./style.ts";

export interface Site {
  readonly files: ReadonlyMap<string, string>;
  /** The public names that no running example uses, by entry point. */
  readonly withoutExample: ReadonlyMap<string, ReadonlyArray<string>>;
  readonly names: number;
}

/** The documents in reading order, with the paths of their pages. */
const documents: Readonly<Record<string, ReadonlyArray<string>>> = {
  Start: ["README.md", "docs/embedding.md", "docs/api.md", "docs/errors.md", "CHANGELOG.md"],
  Guides: globSync("docs/*.md", { cwd: root }).toSorted(),
  Packages: globSync("packages/*/README.md", { cwd: root }).toSorted(),
  Project: ["CONTRIBUTING.md", "SECURITY.md"],
};

const errorDocument = "docs/errors.md";

const pageOf = (file: string): string =>
  file === "README.md" ? "index.html" : file.replace(/\.md$/, ".html").replace("/README", "");

export const makeSite = async (): Promise<Site> => {
  const declarations = await compile();
  const surfaces = publishablePackages()
    .flatMap((published) => publicSurfaceOf(published, join(declarations, basename(published.folder))))
    .filter(({ names }) => names.length > 0);
  const seen = new Set<string>();
  const groups: Array<NavigationGroup> = [];
  const files = new Map<string, string>();
  const rendered: Array<{ path: string; title: string; page: Rendered }> = [];

  const pages = new Map([
    ...Object.values(documents)
      .flat()
      .map((file) => [file, pageOf(file)] as const),
    ...errorCodes.map((code) => [`errors/${code}.md`, errorPath(code)] as const),
  ]);
  for (const [title, group] of Object.entries(documents)) {
    const added = group
      .filter((file) => !seen.has(file))
      .map((file) => {
        seen.add(file);
        const path = pageOf(file);
        const text = readFileSync(join(root, file), "utf8");
        const markdown = file === errorDocument ? withErrorLinks(text) : text;
        const pictureAt = (href: string) => readFileSync(join(root, dirname(file), href), "utf8");
        const page = render(markdown, linksOf(file, path, pages), pictureAt);
        rendered.push({ path, title: page.sections[1]?.title ?? file, page });
        return { path, title: page.sections[1]?.title ?? file };
      });
    groups.push({ title, pages: added });
  }

  for (const code of errorCodes) {
    const path = errorPath(code);
    const linkTo = linksOf(`errors/${code}.md`, path, pages);
    const page = render(errorMarkdown(code), linkTo);
    rendered.push({ path, title: code, page });
  }
  groups.push({
    title: "Errors",
    pages: errorCodes.map((code) => ({ path: errorPath(code), title: code })),
  });

  const names = makeNames(surfaces);
  const examples = examplesByName(surfaces, readExamples(), names);
  groups.push({
    title: "API reference",
    pages: surfaces.map(({ specifier }) => ({ path: referencePath(specifier), title: specifier })),
  });
  const linkTo = linksToExamples(pages, surfaces);
  for (const surface of surfaces) {
    const markdown = referenceMarkdown(surface, names.origin, examples, linkTo);
    const path = referencePath(surface.specifier);
    rendered.push({ path, title: surface.specifier, page: render(markdown, (href) => href) });
  }

  for (const { path, title, page } of rendered)
    files.set(path, pageHtml({ path, title, content: page.html }, groups));
  files.set("search_index.js", `const searchDocuments = ${JSON.stringify(searchDocuments(rendered))};\n`);
  files.set("style.css", style);
  files.set("search.js", readFileSync(join(import.meta.dirname, "search.js"), "utf8"));
  const minisearch = join(dirname(fileURLToPath(import.meta.resolve("minisearch"))), "../umd/index.js");
  files.set("minisearch.js", readFileSync(minisearch, "utf8").replace(/\/\/# sourceMappingURL.*\s*$/, ""));
  return { files, ...examplesMissing(surfaces, names, examples) };
};

/**
 * Converts an example to a link from a reference page: to the document that contains it, or to the name whose comment
 * does.
 */
const linksToExamples = (pages: ReadonlyMap<string, string>, surfaces: ReadonlyArray<EntrySurface>) => {
  const known = new Map<Example, string | null>();
  const linkTo = (example: Example) => {
    const page = pages.get(example.file);
    return page === undefined ? linkToName(example, surfaces) : linkToSection(example, page);
  };
  return (example: Example): string | null => {
    const link = known.get(example) ?? linkTo(example);
    known.set(example, link);
    return link;
  };
};

const linkToSection = ({ file, line }: Example, page: string): string => {
  const before = readFileSync(join(root, file), "utf8").split("\n").slice(0, line);
  const heading = before.findLast((text) => /^#+ /.test(text))?.replace(/^#+ /, "") ?? file;
  const { sections } = render(`# ${heading}`, (href) => href);
  return `[${sections[1]?.title}](../${page}#${sections[1]?.anchor})`;
};

const linkToName = ({ code }: Example, surfaces: ReadonlyArray<EntrySurface>): string | null => {
  for (const { specifier, comment, names } of surfaces) {
    const page = posix.basename(referencePath(specifier));
    const owner = names.find((name) => hasExample(name.comment, code))?.name;
    if (owner !== undefined) return `[${owner}](${page}#${anchorOf(owner)})`;
    if (hasExample(comment, code)) return `[${specifier}](${page})`;
  }
  return null;
};

const searchDocuments = (
  rendered: ReadonlyArray<{ readonly path: string; readonly title: string; readonly page: Rendered }>,
) =>
  rendered
    .flatMap(({ path, title, page }) =>
      page.sections
        .filter(({ text, title: heading }) => text + heading !== "")
        .map((section) => ({
          title: section.title === "" ? title : section.title,
          page: title,
          url: section.anchor === "" ? path : `${path}#${section.anchor}`,
          // The declarations of the reference are long, and their words are common to all of them.
          text: section.text.slice(0, path.startsWith("api/") ? 300 : 6_000),
        })),
    )
    .map((document, id) => ({ id, ...document }));

const examplesMissing = (
  surfaces: ReadonlyArray<EntrySurface>,
  { origin }: ReturnType<typeof makeNames>,
  examples: ReadonlyMap<string, ReadonlyArray<Example>>,
) => ({
  names: surfaces.flatMap(({ names }) => names).length,
  withoutExample: new Map(
    surfaces.map(({ specifier, names }) => [
      specifier,
      names.filter((name) => !examples.has(origin(name).id)).map(({ name }) => name),
    ]),
  ),
});

if (import.meta.main) {
  const folder = process.argv[2] ?? join(root, "dist/guide");
  const { files, names, withoutExample } = await makeSite();
  rmSync(folder, { recursive: true, force: true });
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const missing = [...withoutExample.values()].flat().length;
  console.log(
    `${files.size} files in ${folder}; ${names - missing} of ${names} public names have an example:`,
  );
  for (const [specifier, without] of withoutExample)
    if (without.length > 0) console.log(`  ${specifier}: ${without.length} have none`);
}
