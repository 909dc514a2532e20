/** Writes the examples of the documentation into a project, where they compile and run. */
import { globSync, readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type Example,
  type ExampleModule,
  examplesIn,
  expectation,
  moduleOf,
} from "../../tools/doc_examples.ts";
import { entryPointsOf } from "../../tools/entry_points.ts";
import { packageIn, root } from "../../tools/publishable.ts";
import { blocksOf, readDocument } from "./document.ts";

/** Makes a project with our packages and the other packages that examples import. */
const makeProject = async (folder: string): Promise<void> => {
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
};

export interface PlacedExample extends ExampleModule {
  readonly title: string;
  readonly fileName: string;
  readonly load: () => Promise<unknown>;
}

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

const place = async (folder: string, example: Example): Promise<PlacedExample> => {
  const { file, line } = example;
  const exampleModule = moduleOf(example, await doorOf(example));
  const fileName = `${file.replaceAll("/", "__").replace(/\.\w+$/, "")}__${line}.mts`;
  const path = join(folder, fileName);
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
/** The examples of all documents and comments. */
export const found = documents
  .toSorted()
  .flatMap((file) => examplesIn(file, readFileSync(join(root, file), "utf8")));
export const placeExamples = async (folder: string): Promise<ReadonlyArray<PlacedExample>> => {
  await makeProject(folder);
  // `client_test.ts` runs these programs against a server.
  const programs = blocksOf(readDocument("docs/client.md")).filter(
    ({ language }) => language === "typescript",
  );
  for (const [index, { text }] of programs.entries())
    await writeFile(join(folder, `client_program_${index}.ts`), text);
  return Promise.all(found.map((example) => place(folder, example)));
};
