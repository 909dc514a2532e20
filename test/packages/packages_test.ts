/** Runs one recipe from packed packages; packages_proof.ts runs all of them in every runtime. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isProof } from "@accountlink/test-servers";
import { beforeAll, expect, it } from "vitest";
import { pack } from "../../tools/pack.ts";
import { type Manifest, publishablePackages, root } from "../../tools/publishable.ts";
import { useFolder } from "../support/folder.ts";
import { lint } from "./lint.ts";
import { run, type Tarballs } from "./project.ts";
import { expectRecipe, makeRecipe, recipes } from "./recipe.ts";
import { runtimesHere } from "./runtimes.ts";

const recipe = recipes.find(({ name }) => name === "effect");
if (recipe === undefined) throw new Error('Cannot find the recipe "effect"');
const packages = new Map(publishablePackages().map(({ manifest }) => [manifest.name, manifest]));

/** The packages of this repository that a manifest needs. */
const needed = ({ dependencies = {} }: Pick<Manifest, "dependencies">): ReadonlyArray<string> =>
  Object.keys(dependencies).flatMap((name) => {
    const manifest = packages.get(name);
    return manifest === undefined ? [] : [name, ...needed(manifest)];
  });
const names = [...new Set(needed(recipe.manifest))];

const folder = useFolder();
let tarballs: Tarballs;

beforeAll(async () => {
  tarballs = await pack(join(folder, "tarballs"), names);
});

it("packed packages pass publint", async () => {
  expect([...tarballs.keys()].toSorted()).toEqual(names.toSorted());
  expect(await Promise.all([...tarballs.values()].map(lint))).toEqual(names.map(() => []));
});

it("every file that a compiled module imports by its path is compiled or copied too", () => {
  const modules = globSync("packages/*/dist/**/*.js", { cwd: root });
  const imported = modules.flatMap((module) =>
    [...readFileSync(join(root, module), "utf8").matchAll(/^[^*\n]*(?:from |import\()"(\.[^"]+)"/gm)].map(
      ([, path = ""]) => join(dirname(module), path),
    ),
  );
  expect(imported.length).toBeGreaterThan(modules.length);
  expect(imported.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

const project = () => join(folder, "project");

it("packed packages install into an empty folder, compile there and run", async () => {
  await makeRecipe(recipe, project(), tarballs);
  await expectRecipe(recipe, "node24", project(), runtimesHere);
});

it.runIf(isProof)("packed packages start in at most twice the processor time of Effect", async () => {
  const processorTime = async (module: string) => {
    const code = `await import("${module}"); const { user, system } = process.cpuUsage(); console.log(user + system);`;
    const output = await run(project(), [process.execPath, "--input-type=module", "--eval", code]);
    return Number(output.trim().split("\n").at(-1));
  };
  const least = { effect: Infinity, services: Infinity };
  for (let round = 0; round < 5 && !(least.services / least.effect < 2); round++) {
    least.effect = Math.min(least.effect, await processorTime("effect"));
    least.services = Math.min(least.services, await processorTime("./main.js"));
  }
  expect(least.services / least.effect).toBeLessThan(2);
});
