/**
 * Compiles every example of the documentation, runs it and compares its documented values. The proof also runs the
 * tests that examples declare: the suites of `packages/testing`, on storages that `npm test` holds to them elsewhere.
 */
import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { isProof } from "@accountlink/test-servers";
import { API } from "typescript/unstable/sync";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  type Example,
  type ExampleModule,
  examplesIn,
  expectation,
  moduleOf,
} from "../../tools/doc_examples.ts";
import { entryPointsOf } from "../../tools/entry_points.ts";
import { packageIn, root } from "../../tools/publishable.ts";
import { useFolder } from "../support/folder.ts";
import { blocksOf, readDocument } from "./document.ts";

const run = promisify(execFile);

/** Makes a project with our packages and the other packages that examples import. */
const makeProject = async (): Promise<string> => {
  const folder = useFolder();
  const install = async (name: string, path: string) => {
    const target = join(folder, "node_modules", name);
    await mkdir(dirname(target), { recursive: true });
    await symlink(join(root, path), target);
  };
  for (const manifest of globSync("packages/*/package.json", { cwd: root })) {
    const { name } = JSON.parse(readFileSync(join(root, manifest), "utf8")) as { readonly name: string };
    await install(name, dirname(manifest));
  }
  for (const name of ["vitest", "@types/node"]) await install(name, `node_modules/${name}`);
  await install("effect", "packages/core/node_modules/effect");
  await install("fast-check", "packages/testing/node_modules/fast-check");
  await install("@effect/platform-node", "apps/server/node_modules/@effect/platform-node");
  await install("@effect/sql-pg", "node_modules/@effect/sql-pg");
  await writeFile(join(folder, "package.json"), `{ "type": "module" }`);
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: join(root, "tsconfig.base.json"),
      compilerOptions: { types: ["node"] },
      include: ["*.ts", "*.mts"],
    }),
  );
  await writeFile(
    join(folder, "expectation.d.ts"),
    `declare function ${expectation}(actual: unknown, documented: unknown): void;`,
  );
  return folder;
};

interface PlacedExample extends ExampleModule {
  readonly title: string;
  readonly fileName: string;
  readonly load: () => Promise<unknown>;
}

const project = await makeProject();

/** Finds the entry point that exports an example's file: the file itself, or else the nearest `mod.ts` above it. */
const doorOf = async ({ file }: Example) => {
  const [, name, path] = /^packages\/([^/]+)\/(.+)$/.exec(file) ?? [];
  if (name === undefined || path === undefined) return null;
  const owner = packageIn(`packages/${name}`);
  const points = entryPointsOf(owner);
  const doors = dirname(path)
    .split("/")
    .map((_, depth, folders) => `./${join(...folders.slice(0, folders.length - depth), "mod.ts")}`);
  const found = [`./${path}`, ...doors, "./mod.ts"]
    .map((source) => points.find((point) => point.source === source))
    .find((point) => point !== undefined);
  if (found === undefined && path.endsWith(".md")) return null;
  if (found === undefined) throw new Error(`Cannot run the example of "${file}": no export leads to it`);
  const door = (await import(pathToFileURL(join(root, owner.folder, found.source)).href)) as object;
  return { name: found.specifier, exports: Object.keys(door) };
};

const place = async (example: Example): Promise<PlacedExample> => {
  const { file, line } = example;
  const exampleModule = moduleOf(example, await doorOf(example));
  const fileName = `${file.replaceAll("/", "__").replace(/\.\w+$/, "")}__${line}.mts`;
  const path = join(project, fileName);
  await writeFile(path, exampleModule.source);
  return {
    ...exampleModule,
    title: `${file}:${line}`,
    fileName,
    load: () => import(pathToFileURL(path).href),
  };
};

const documents = globSync(["*.md", "docs/**/*.md", "packages/**/*.{md,ts}", "apps/**/*.ts"], {
  cwd: root,
  exclude: ["**/node_modules", "packages/*/dist", "**/*_test.ts"],
});
const found = documents
  .toSorted()
  .flatMap((file) => examplesIn(file, readFileSync(join(root, file), "utf8")));
const examples: ReadonlyArray<PlacedExample> = await Promise.all(found.map(place));

// `client_test.ts` runs these programs against a server.
const programs = blocksOf(readDocument("docs/client.md")).filter(({ language }) => language === "typescript");
for (const [index, { text }] of programs.entries()) {
  await writeFile(join(project, `client_program_${index}.ts`), text);
}

// Load the examples that contain tests before any test runs, because a module declares its tests when it is loaded.
if (isProof) for (const { load } of examples.filter(({ isTest }) => isTest)) await load();

const globals = globalThis as { [expectation]?: (actual: unknown, documented: unknown) => void };
const home = process.cwd();

// Examples write files into the working directory, so the project must be the working directory.
beforeAll(() => process.chdir(project));

afterAll(() => {
  process.chdir(home);
  delete globals[expectation];
});

it("README.md and docs have examples", () => {
  const files = new Set(found.map(({ file }) => file));
  expect([...files]).toEqual(expect.arrayContaining(["README.md", "docs/embedding.md"]));
});

it("no example declares with `using`, which is a syntax error on Node 20 and 22", () => {
  const newer = found.filter(({ code }) => /\busing\s+[\w$]+\s*=/.test(code));
  expect(newer.map(({ file, line }) => `${file}:${line}`)).toEqual([]);
});

it.each(examples.filter(({ isTest }) => !isTest))("$title runs", async ({ load, values }) => {
  let compared = 0;
  globals[expectation] = (actual, documented) => {
    expect(actual).toStrictEqual(documented);
    compared += 1;
  };
  await load();
  expect(compared, "documented values that were reached").toBe(values);
});

it("all examples compile, and a forgotten option is named in one line", async () => {
  const forgotten = `import { createAccountLink } from "accountlink";\nvoid createAccountLink({});\n`;
  await writeFile(join(project, "forgotten.ts"), forgotten);
  // Asks for the examples alone: the check compiles the packages that they import.
  const compiler = new API();
  try {
    const config = join(project, "tsconfig.json");
    const { program } = compiler.updateSnapshot({ openProjects: [config] }).getProject(config) ?? {};
    const problems = globSync("*.{ts,mts}", { cwd: project })
      .map((name) => join(project, name))
      .flatMap((file) => [
        ...(program?.getSyntacticDiagnostics(file) ?? []),
        ...(program?.getSemanticDiagnostics(file) ?? []),
      ]);
    expect(problems.map(({ fileName, text }) => `${basename(fileName ?? "")}: ${text}`)).toEqual([
      `forgotten.ts: Property 'gameUserExists' is missing in type '{}' but required in type 'Pick<PlatformFunctions, "gameUserExists">'.`,
    ]);
  } finally {
    compiler.close();
  }
});

it.runIf(isProof).each([
  ["Deno", "node_modules/deno/deno", ["run", "--allow-all"]],
  ["Bun", "node_modules/bun/bin/bun.exe", []],
])("the program of the README runs on %s", async (_name, runtime, options) => {
  const program = found.find(({ file }) => file === "README.md");
  // Each run needs a new folder, because the program creates its data and secret there.
  const cwd = await mkdtemp(join(project, "program-"));
  await writeFile(join(cwd, "program.ts"), program?.code ?? "");
  const { stdout } = await run(join(root, runtime), [...options, "program.ts"], { cwd });
  expect(stdout).toBe("1\n");
});
