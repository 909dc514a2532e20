/**
 * Runs every example of the documentation and compares its documented values; `npm run check` compiles them. The proof
 * also runs the tests that examples declare: the suites of `packages/testing`, on storages that `npm test` holds to them
 * elsewhere.
 */
import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { isProof } from "@accountlink/test-servers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { expectation } from "../../tools/doc_examples.ts";
import { root } from "../../tools/publishable.ts";
import { useFolder } from "../support/folder.ts";
import { found, placeExamples } from "./example_project.ts";

const run = promisify(execFile);

const project = useFolder();
const examples = await placeExamples(project);

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

it("each example that a document names is there", () => {
  const documents = globSync(["*.md", "docs/*.md", "packages/**/*.md", "clients/**/*.md"], {
    cwd: root,
    exclude: ["**/node_modules"],
  });
  const named = documents.flatMap(
    (file) => readFileSync(join(root, file), "utf8").match(/\bexamples\/[\w./-]*\w/g) ?? [],
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

it("each example program in TypeScript says which runtimes start it", () => {
  const programs = globSync("examples/*.ts", { cwd: root });
  const silent = programs.filter(
    (file) =>
      !/^\/\*\*(?:(?!\*\/)[^])*Node 22\.18 or newer, Deno or Bun/.test(
        readFileSync(join(root, file), "utf8"),
      ),
  );
  expect([programs.length > 1, silent]).toEqual([true, []]);
});

/** Random histories of a bot take seconds, so only the proof runs them. */
const isShort = ({ title }: { readonly title: string }) => isProof || !title.startsWith("docs/testing.md:");

it.each(examples.filter((example) => !example.isTest && isShort(example)))(
  "$title runs",
  async ({ load, values }) => {
    let compared = 0;
    globals[expectation] = (actual, documented) => {
      expect(actual).toStrictEqual(documented);
      compared += 1;
    };
    await load();
    expect(compared, "documented values that were reached").toBe(values);
  },
);

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
