/**
 * Checks which package imports which, and that the folders inside of a package import each other without a circle.
 * The tables below are the rule of packages; `violations` applies it to a file. Run as a program, it checks every
 * source of the workspace.
 */
import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { folderCircles } from "./folder_circles.ts";
import { importsOf } from "./imports.ts";

interface Rule {
  /** The packages of this workspace that it may import. */
  readonly imports: ReadonlyArray<string> | "any";
  /** It runs on any JavaScript runtime, so it imports no `node:` module. Its tests may. */
  readonly portable?: true;
  /** The only third-party package that it may import. Its tests may import others. */
  readonly thirdParty?: string;
  /** The packages that only its tests may import, besides those that every test may. */
  readonly tests?: ReadonlyArray<string>;
}

/** By package, without the scope `@accountlink/`; the last five are folders beside the packages. */
const rules: Readonly<Record<string, Rule>> = {
  core: { imports: [], portable: true, thirdParty: "effect" },
  memory: { imports: ["core"], portable: true },
  sql: { imports: ["core"] },
  redis: { imports: ["core"] },
  "http-api": { imports: ["core"], portable: true },
  client: { imports: [], portable: true, tests: ["core", "http-api"] },
  http: { imports: ["core", "http-api"], portable: true, tests: ["pages"] },
  pages: { imports: ["core", "http-api", "http"], portable: true },
  platforms: { imports: ["core", "pages"] },
  accountlink: { imports: ["core", "http", "pages", "memory", "sql", "redis", "platforms"] },
  testing: { imports: ["core", "accountlink", "memory"], tests: ["client"] },
  server: { imports: "any" },
  test: { imports: "any" },
  bench: { imports: ["test-servers"] },
  // Programs of clients, which users copy.
  examples: { imports: ["client"] },
  // Programs of those who install the packages.
  recipes: { imports: "any" },
  tools: { imports: ["pages", "http-api"] },
};

/** What tests (`*_test.ts`, `test_*.ts`) may import in addition. */
const testImports = ["testing", "test-servers", "memory"];

/** Unstable modules of Effect, and the packages that may use them. */
const unstableModules: Readonly<Record<string, ReadonlyArray<string>>> = {
  "effect/cli": ["server", "test"],
  "effect/http-api": ["http-api", "http", "pages", "test"],
  "effect/persistence": ["memory", "redis", "platforms", "test"],
  "effect/sql": ["sql", "test"],
};

/** The forbidden imports of a file, one line each, with the fix. `file` is the path from the root. */
export const violations = (file: string, source: string): ReadonlyArray<string> =>
  importsOf(file, source).flatMap(({ specifier, offset }) => {
    const problem = problemOf(file, specifier);
    const line = source.slice(0, offset).split("\n").length;
    return problem === null ? [] : [`${file}:${line}: Cannot import "${specifier}": ${problem}`];
  });

/** Why the file may not import this and what to do instead, or null if it may. */
const problemOf = (file: string, specifier: string): string | null => {
  const name = packageOf(file);
  const rule = rules[name];
  if (rule === undefined) return `"${name}" has no rule. Add one to "tools/boundaries.ts"`;
  if (specifier.startsWith(".")) return relativeProblem(file, specifier);

  const isTest = /(?:_test|\/test_\w+)\.ts$/.test(file);
  const [, scoped, umbrella] = /^(?:@accountlink\/([^/]+)|(accountlink)(?:\/|$))/.exec(specifier) ?? [];
  const imported = scoped ?? umbrella;
  if (imported === undefined) {
    return unstableProblem(specifier, name) ?? (isTest ? null : thirdPartyProblem(specifier, name, rule));
  }
  if (imported === name) return "it is this package itself. Import the file by its relative path";
  if (rule.imports === "any") return null;
  const allowed = isTest ? [...rule.imports, ...testImports, ...(rule.tests ?? [])] : rule.imports;
  if (allowed.includes(imported)) return null;
  const list = allowed.length === 0 ? "no other package" : allowed.join(", ");
  return `expected ${list}. Use a port of "core" here, and provide its layer in "apps/server"`;
};

const relativeProblem = (file: string, specifier: string): string | null => {
  const target = packageOf(posix.join(posix.dirname(file), specifier));
  if (target === packageOf(file)) return null;
  // They export nothing by name, and tests of the workspace use them.
  if ((target === "tools" || target === "bench") && packageOf(file) === "test") return null;
  return `the path leads out of the package. Import "${target}" by the name in its "package.json"`;
};

const unstableProblem = (specifier: string, name: string): string | null => {
  const unstable = Object.entries(unstableModules).find(([module]) => isWithin(specifier, module));
  if (unstable === undefined || unstable[1].includes(name)) return null;
  const [module, users] = unstable;
  return `"${module}" is unstable and kept to ${users.join(", ")}. Move the code there, or use what they export`;
};

const thirdPartyProblem = (specifier: string, name: string, rule: Rule): string | null => {
  if (rule.portable && specifier.startsWith("node:")) {
    return `"${name}" runs on any runtime. Use a service of "effect", or a port that an adapter implements`;
  }
  if (rule.thirdParty !== undefined && !isWithin(specifier, rule.thirdParty)) {
    return `expected "${rule.thirdParty}" only. Define a port, and use the package in an adapter`;
  }
  return null;
};

/** `core` for `packages/core/mod.ts`, `server` for `apps/server/main.ts`, `test` for `test/a.ts`. */
const packageOf = (path: string): string =>
  /^(?:(?:packages|apps|examples(?=\/recipes\/))\/)?([^/]+)/.exec(path)?.[1] ?? "";

const isWithin = (specifier: string, name: string): boolean =>
  specifier === name || specifier.startsWith(`${name}/`);

if (import.meta.main) {
  const files = globSync("{packages,apps,bench,examples,test,tools}/**/*.{ts,tsx}", {
    // The second is a link to a file that is checked where it is.
    exclude: ["**/node_modules", "packages/*/dist", "apps/server/main.ts"],
  });
  const sources = new Map(files.toSorted().map((file) => [file, readFileSync(file, "utf8")]));
  const found = [
    ...[...sources].flatMap(([file, source]) => violations(file, source)),
    ...folderCircles(sources),
  ];
  for (const line of found) console.log(line);
  process.exitCode = found.length === 0 ? 0 : 1;
}
