/**
 * Which package may import which. The tables are the rule; `violations` holds a source file against them.
 * Run as a program, it checks every source of the workspace.
 */
import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { parseSync } from "oxc-parser";

interface Room {
  /** The folders that this one may import. */
  readonly imports: ReadonlyArray<string>;
  /** It runs in any JavaScript runtime: no `node:` module, except in its tests. */
  readonly portable?: true;
  /** The one foreign package that it may import, except in its tests. */
  readonly foreign?: string;
}

/** By folder; the first pattern that fits is the room's row. */
const rooms: Readonly<Record<string, Room>> = {
  "packages/core": { imports: [], portable: true, foreign: "effect" },
  "packages/http-api": { imports: ["packages/core"], portable: true },
  "packages/http": { imports: ["packages/core", "packages/http-api"] },
  "packages/client": { imports: ["packages/http-api"], portable: true },
  "packages/conformance": { imports: ["packages/core"] },
  "packages/*-memory": { imports: ["packages/core"], portable: true },
  "packages/storage-*": { imports: ["packages/core"] },
  "packages/cache-*": { imports: ["packages/core"] },
  "packages/platform-dev": { imports: ["packages/core", "packages/platform-http"] },
  "packages/platform-live": { imports: ["packages/core", "packages/platform-http"] },
  "packages/platform-*": { imports: ["packages/core"] },
  "packages/test-servers": { imports: [] },
  "apps/server": { imports: ["**"] },
  test: { imports: ["**"] },
  // Programs of clients: they are copied, and know the service by its HTTP interface alone.
  examples: { imports: [] },
  tools: { imports: [] },
};

/** What the tests of a room (`*_test.ts`, `internal/test_*.ts`) may import beyond its row. */
const testImports = ["packages/conformance", "packages/test-servers", "packages/*-memory"];

/** Parts of Effect that are marked unstable, and the folders whose job they are. */
const unstableParts: Readonly<Record<string, ReadonlyArray<string>>> = {
  "effect/cli": ["apps/server", "test"],
  "effect/http-api": ["packages/http-api", "packages/http", "packages/client", "test"],
  "effect/persistence": ["packages/cache-*", "packages/platform-http", "test"],
  "effect/sql": ["packages/storage-sql", "test"],
};

/** What breaks the rule in one file, a line for each, with its fix. `file` is the path from the root. */
export const violations = (file: string, source: string): ReadonlyArray<string> =>
  importsOf(file, source).flatMap(({ specifier, offset }) => {
    const problem = problemOf(file, specifier);
    const line = source.slice(0, offset).split("\n").length;
    return problem === null ? [] : [`${file}:${line}: Cannot import "${specifier}": ${problem}`];
  });

interface Import {
  readonly specifier: string;
  readonly offset: number;
}

const importsOf = (file: string, source: string): ReadonlyArray<Import> => {
  const { staticImports, staticExports, dynamicImports } = parseSync(file, source).module;
  const requests = [
    ...staticImports.map((statement) => statement.moduleRequest),
    ...staticExports.flatMap((statement) =>
      statement.entries.slice(0, 1).map((entry) => entry.moduleRequest),
    ),
    ...dynamicImports.map((expression) => expression.moduleRequest),
  ];
  return requests
    .filter((request) => request !== null)
    .map(({ start, end }) => ({ specifier: source.slice(start + 1, end - 1), offset: start }));
};

/** Why the file may not import this and what to do instead, or null if it may. */
const problemOf = (file: string, specifier: string): string | null => {
  const folder = folderOf(file);
  const room = Object.entries(rooms).find(([pattern]) => fits(folder, [pattern]))?.[1];
  if (room === undefined) return `"${folder}" has no row. Add one to "rooms" in "tools/boundaries.ts"`;

  const isTest = file.endsWith("_test.ts") || /\/internal\/test_\w+\.ts$/.test(file);
  const target = folderOfPackage(specifier);
  if (specifier.startsWith(".")) return relativeProblem(file, specifier);
  if (target === folder) return "it is this package itself. Import the file by its relative path";
  if (target === null) return foreignProblem(specifier, folder, isTest ? { imports: [] } : room);
  return workspaceProblem(specifier, target, isTest ? [...room.imports, ...testImports] : room.imports);
};

const relativeProblem = (file: string, specifier: string): string | null => {
  const target = folderOf(posix.join(posix.dirname(file), specifier));
  if (target === folderOf(file)) return null;
  return `the path leads out of the package. Import "${target}" by the name in its "package.json"`;
};

const workspaceProblem = (
  specifier: string,
  target: string,
  allowed: ReadonlyArray<string>,
): string | null => {
  if (specifier.includes("/internal/")) {
    return `"internal" is private to "${target}". Export what is needed from its "mod.ts"`;
  }
  if (fits(target, allowed)) return null;
  const list = allowed.length === 0 ? "no other package" : allowed.join(", ");
  return `expected ${list}. Ask for a port of "packages/core" here, and provide its layer in "apps/server"`;
};

const foreignProblem = (specifier: string, folder: string, room: Room): string | null => {
  for (const [part, owners] of Object.entries(unstableParts)) {
    if (isWithin(specifier, part) && !fits(folder, owners)) {
      return `"${part}" is unstable and kept to ${owners.join(", ")}. Move the code there, or use what they export`;
    }
  }
  if (room.portable && specifier.startsWith("node:")) {
    return `"${folder}" runs in any runtime. Use a service of "effect", or a port that an adapter implements`;
  }
  if (room.foreign !== undefined && !isWithin(specifier, room.foreign)) {
    return `expected "${room.foreign}" and nothing else. Ask for a port, and use the package in an adapter`;
  }
  return null;
};

/** The folder of the workspace that holds the path: `packages/core`, `apps/server`, `test`. */
const folderOf = (path: string): string => /^(?:(?:packages|apps)\/)?[^/]+/.exec(path)?.[0] ?? "";

const folderOfPackage = (specifier: string): string | null => {
  const name = /^@accountlink\/([^/]+)/.exec(specifier)?.[1];
  if (name === undefined) return null;
  return name === "server" ? "apps/server" : `packages/${name}`;
};

const isWithin = (specifier: string, name: string): boolean =>
  specifier === name || specifier.startsWith(`${name}/`);

const fits = (folder: string, patterns: ReadonlyArray<string>): boolean =>
  patterns.some((pattern) => posix.matchesGlob(folder, pattern));

if (import.meta.main) {
  const files = globSync("{packages,apps,examples,test,tools}/**/*.{ts,tsx}", {
    // The second is a link to a file that is looked at where it is.
    exclude: ["**/node_modules", "apps/server/main.ts"],
  });
  const found = files.toSorted().flatMap((file) => violations(file, readFileSync(file, "utf8")));
  for (const line of found) console.log(line);
  process.exitCode = found.length === 0 ? 0 : 1;
}
