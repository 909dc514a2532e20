/**
 * Builds the documentation with TypeDoc as pages that open from a disk: documents, a page for each error code, the
 * reference and a search. Run as a program, it writes into the given folder, by default `dist/guide`.
 */
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { errorCodes } from "@accountlink/http-api";
import {
  Application,
  Converter,
  PageEvent,
  type ProjectReflection,
  type Reflection,
  ReflectionKind,
  StructureRouter,
} from "typedoc";
import { examplesIn } from "../doc_examples.ts";
import { entryPointsOf } from "../entry_points.ts";
import { publishablePackages, root } from "../publishable.ts";
import { writeTypes } from "../written_types.ts";
import { errorMarkdown, withErrorLinks } from "./error_pages.ts";

const repository = "https://github.com/accountlink/accountlink/blob/main/";

/** The documents by navigation group; the first document is the front page. */
const documents = {
  Start: ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"],
  Guides: globSync("docs/*.md", { cwd: root }).toSorted(),
  Packages: globSync("packages/*/README.md", { cwd: root }).toSorted(),
};

/** What the documentation lacks, by name. */
export interface Gaps {
  /** Exported values that no example uses. */
  readonly withoutExample: ReadonlyArray<string>;
  /** Functions and methods of the library and the client about which an editor shows no text. */
  readonly withoutComment: ReadonlyArray<string>;
}

/** Writes the guide, and returns what it lacks. */
export const makeGuide = async (folder: string): Promise<Gaps> => {
  writeTypes();
  const sources = mkdtempSync(join(tmpdir(), "accountlink-guide-"));
  try {
    const titles = writeDocuments(sources);
    const specifiers = publicEntryPoints();
    const app = await Application.bootstrap({
      name: "accountlink",
      entryPoints: [...specifiers.keys()].map((path) => join(root, path)),
      basePath: root,
      tsconfig: join(root, "tsconfig.base.json"),
      readme: join(sources, "README.md"),
      projectDocuments: [...titles.values()].map((file) => join(sources, file)),
      router: "path",
      excludeInternal: true,
      excludeExternals: true,
      searchInComments: true,
      searchInDocuments: true,
      // `npm run check` already checks types.
      skipErrorChecking: true,
      disableGit: true,
      gitRevision: "main",
      sourceLinkTemplate: `${repository}{path}#L{line}`,
      customCss: join(import.meta.dirname, "guide.css"),
      highlightLanguages: [
        "bash",
        "diff",
        "http",
        "json",
        "luau",
        "python",
        "sh",
        "sql",
        "ts",
        "tsx",
        "xml",
        "yaml",
      ],
      logLevel: "Error",
    });
    app.renderer.defineRouter(
      "path",
      class extends StructureRouter {
        protected override getIdealBaseName(reflection: Reflection): string {
          const file = reflection.isDocument() ? titles.get(reflection.name) : undefined;
          return file?.replace(/\.md$/, "") ?? super.getIdealBaseName(reflection);
        }
      },
    );
    app.converter.on(Converter.EVENT_CREATE_DECLARATION, (_, reflection) => {
      const [path] = reflection.sources?.map(({ fullFileName }) => posix.relative(root, fullFileName)) ?? [];
      if (reflection.kind === ReflectionKind.Module)
        reflection.name = specifiers.get(path ?? "") ?? reflection.name;
    });
    app.renderer.on(PageEvent.END, (page) => {
      page.contents = (page.contents ?? "")
        // The server's content security policy forbids inline scripts. The removed script restores a chosen theme.
        .replace(/<script>[^<]*<\/script>/g, "")
        // When the pages are opened from a disk, a link to a folder shows no page, so name the file.
        .replaceAll(/(href="(?:\.\.\/)+)(["#])/g, "$1index.html$2")
        // The server serves only text of the guide, so pictures are part of the pages.
        .replaceAll(/(src(?:set)?)="(?:pictures|media)\/([\w-]+\.webp)"/g, (_, attribute, name) => {
          const file = readFileSync(join(root, "docs/pictures", name), "base64");
          return `${attribute}="data:image/webp;base64,${file}"`;
        });
    });
    const project = await app.convert();
    if (project === undefined) throw new Error("Cannot read the packages");
    await app.generateDocs(project, folder);
    return { withoutExample: withoutExample(project), withoutComment: withoutComment(project) };
  } finally {
    rmSync(sources, { recursive: true });
  }
};

/** The public entry points by path; internal ones are left out. */
const publicEntryPoints = (): ReadonlyMap<string, string> =>
  new Map(
    publishablePackages().flatMap((published) =>
      entryPointsOf(published)
        .map(({ specifier, source }) => [posix.join(published.folder, source), specifier] as const)
        .filter(([path]) => !/^\/\*\*(?:(?!\*\/)[^])*@internal/.test(readFileSync(join(root, path), "utf8"))),
    ),
  );

/**
 * Writes the documents and the error pages into a folder, from which TypeDoc makes pages. TypeDoc also turns the links
 * between these files into links between the pages.
 *
 * @returns all files except the front page, by title
 */
const writeDocuments = (folder: string): ReadonlyMap<string, string> => {
  const titles = new Map<string, string>();
  const write = (group: string, file: string, text: string) => {
    const title = /^# (.*)/m.exec(text)?.[1] ?? file;
    if (file !== "README.md") titles.set(title, file);
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(
      join(folder, file),
      `---\ntitle: ${JSON.stringify(title)}\ngroup: ${group}\n---\n\n${text}`,
    );
  };
  const known = new Set(Object.values(documents).flat());
  for (const [group, paths] of Object.entries(documents)) {
    for (const path of paths) {
      const text = readFileSync(join(root, path), "utf8");
      write(group, path, withLinks(path, path === "docs/errors.md" ? withErrorLinks(text) : text, known));
    }
  }
  for (const file of globSync("docs/*.svg", { cwd: root })) cpSync(join(root, file), join(folder, file));
  for (const code of errorCodes) write("Errors", `errors/${code}.md`, errorMarkdown(code));
  return titles;
};

/** Returns the text of a document. Links to files that are not part of the guide lead to the repository instead. */
const withLinks = (file: string, text: string, known: ReadonlySet<string>): string =>
  text.replaceAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g, (link, path: string) => {
    const target = posix.join(posix.dirname(file), path);
    const isKnown = known.has(target) || target.startsWith("errors/") || target.endsWith(".svg");
    return isKnown ? link : `](${repository}${target}`;
  });

const withoutExample = (project: ProjectReflection): ReadonlyArray<string> => {
  const code = globSync(["*.md", "docs/*.md", "packages/**/*.{md,ts}"], {
    cwd: root,
    exclude: ["**/node_modules", "packages/*/dist", "**/*_test.ts"],
  }).flatMap((file) =>
    examplesIn(file, readFileSync(join(root, file), "utf8")).map((example) => example.code),
  );
  const words = new Set(code.join("\n").match(/[A-Za-z_$][\w$]*/g));
  return project
    .getReflectionsByKind(ReflectionKind.Class | ReflectionKind.Function | ReflectionKind.Variable)
    .filter(({ name }) => !words.has(name))
    .map((reflection) => reflection.getFriendlyFullName());
};

const withoutComment = (project: ProjectReflection): ReadonlyArray<string> =>
  project
    .getReflectionsByKind(ReflectionKind.Function | ReflectionKind.Method | ReflectionKind.Property)
    .filter((reflection) => reflection.isDeclaration())
    .filter((reflection) => {
      const { signatures, type } = reflection;
      const calls =
        signatures ?? (type?.type === "reflection" ? type.declaration.signatures : undefined) ?? [];
      return calls.length > 0 && ![reflection, ...calls].some((documented) => documented.hasComment());
    })
    .map((reflection) => reflection.getFriendlyFullName())
    .filter((name) => /^(?:accountlink|@accountlink\/client)\b.*\w$/.test(name));

if (import.meta.main) {
  const folder = process.argv[2] ?? join(root, "dist/guide");
  const gaps = await makeGuide(folder);
  for (const name of gaps.withoutExample) console.log(`${name} has no example`);
  for (const name of gaps.withoutComment) console.log(`${name} has no comment`);
  console.log(folder);
}
