/**
 * Packs every package and installs it into empty folders, then checks manifests, types, entry points and recipes in
 * every runtime.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { beforeAll, describe, expect, it } from "vitest";
import { entryPointsOf } from "../../tools/entry_points.ts";
import { pack } from "../../tools/pack.ts";
import { publishablePackages, root } from "../../tools/publishable.ts";
import { startProgram } from "../client/program.ts";
import { useFolder } from "../support/folder.ts";
import { compile, install, run, type Tarballs } from "./project.ts";
import { expectRecipe, makeRecipe, recipes } from "./recipe.ts";
import { installRuntimes, type Runtime, type Runtimes } from "./runtimes.ts";

const packages = publishablePackages();

const folder = useFolder();
let tarballs: Tarballs;
let runtimes: Runtimes;

beforeAll(async () => {
  tarballs = await pack(join(folder, "tarballs"));
  runtimes = await installRuntimes(join(folder, "runtimes"));
}, 600_000);

describe.each(packages)("the tarball of $manifest.name", (published) => {
  const { name } = published.manifest;
  const tarball = () => tarballs.get(name) ?? "";

  it("a packed package passes publint", async () => {
    expect(await lint(tarball())).toEqual([]);
  });

  it("a packed package passes attw, which checks its types", async () => {
    const attw = ["npm", "exec", "--yes", "--package=@arethetypeswrong/cli@0.18.5", "--", "attw"] as const;
    const report = await run(folder, [...attw, tarball(), "--profile=esm-only"]);
    expect(report).toContain(`${name} v`);
  });

  it("a packed package contains sources and licence, and no tests", async () => {
    const files = (await run(folder, ["tar", "-tzf", tarball()])).split("\n");
    const sources = entryPointsOf(published).map(({ source }) => source.slice("./".length));
    const modules = sources.map((source) => join("dist", source.replace(/\.ts$/, ".js")));
    const expected = ["LICENSE", "README.md", ...sources, ...modules].map(inTarball);
    expect(expected.filter((file) => !files.includes(file))).toEqual([]);
    expect(files.filter((file) => /_test\.|\/test_|node_modules/.test(file))).toEqual([]);
  });
});

/** Returns the source text of a module that imports the entry points. */
const loading = (specifiers: ReadonlyArray<string>) =>
  `${specifiers.map((name) => `console.log("${name}", typeof (await import("${name}")));\n`).join("")}export {};\n`;

/** Node 20 does not have `node:sqlite`. */
const needsSqlite = (specifier: string): boolean => /sqlite$|@accountlink\/sql$/.test(specifier);

const inTarball = (file: string) => `package/${file}`;

describe("all packages in one project", () => {
  const project = () => join(folder, "all");
  // Leave out entry points whose source is not TypeScript: they are scripts that run only in a browser.
  const specifiers = packages
    .flatMap(entryPointsOf)
    .flatMap(({ specifier, source }) => (source.endsWith(".ts") ? [specifier] : []));

  beforeAll(async () => {
    await mkdir(project());
    const dependencies = Object.fromEntries(packages.map(({ manifest }) => [manifest.name, "*"]));
    const others = {
      "@effect/sql-pg": "*",
      "@types/node": "24.12.0",
      effect: "4.1.0",
      ioredis: "*",
      "typescript-5": "npm:typescript@5.9.3",
      vitest: "5.1.0",
    };
    await install(project(), { dependencies: { ...dependencies, ...others } }, tarballs);
    const everywhere = specifiers.filter((specifier) => !needsSqlite(specifier));
    await writeFile(join(project(), "everywhere.ts"), loading(everywhere));
    await writeFile(join(project(), "sqlite.ts"), loading(specifiers.filter(needsSqlite)));
  }, 600_000);

  it("packages compile without skipLibCheck", async () => {
    expect(await compile(project(), { types: ["node"], emit: true })).toBe("");
  });

  it("packages compile with TypeScript 5", async () => {
    const compiler = join(project(), "node_modules/typescript-5");
    expect(await compile(project(), { types: ["node"], compiler })).toBe("");
  });

  it("packages share the project's copy of effect", async () => {
    const found = await run(project(), ["find", "-L", "node_modules", "-path", "*/effect/package.json"]);
    expect(found.trim()).toBe("node_modules/effect/package.json");
  });

  it.each<Runtime>(["node20", "node22", "node24", "deno", "bun"])("packages load in %s", async (runtime) => {
    const modules = runtime === "node20" ? ["everywhere.js"] : ["everywhere.js", "sqlite.js"];
    for (const module of modules) {
      const [program, ...options] = runtimes.commandOf(runtime);
      const command = [program, ...options, module] as const;
      expect(await startProgram(command, project(), { HOME: process.env["HOME"] }).ended).toBe(0);
    }
  });
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

describe.each(recipes)("the recipe $name", (recipe) => {
  const project = () => join(folder, "recipes", recipe.name);

  beforeAll(() => makeRecipe(recipe, project(), tarballs), 600_000);

  it("a recipe installs only the database drivers that its manifest requires", () => {
    const asked = Object.keys(recipe.manifest.dependencies ?? {});
    const drivers = ["@effect/sql-pg", "ioredis"];
    const installed = drivers.filter((name) => existsSync(join(project(), "node_modules", name)));
    expect(installed).toEqual(drivers.filter((name) => asked.includes(name)));
  });

  it.each(recipe.runtimes)("the recipe runs in %s", (runtime) =>
    expectRecipe(recipe, runtime, project(), runtimes),
  );

  it.runIf(recipe.name === "embed")(
    "a service on memory starts, makes a link and reads it in at most four times the processor time of loading Effect",
    async () => {
      const embedded = `const { createAccountLink } = await import("accountlink");
        const al = await createAccountLink({ gameUserExists: () => true });
        await al.links.set("100001", "1");
        await al.links.get("100001");
        await al.close();`;
      const processorTime = async (program: string) => {
        const code = `${program} const { user, system } = process.cpuUsage(); console.log(user + system);`;
        const output = await run(project(), [process.execPath, "--input-type=module", "--eval", code]);
        return Number(output.trim().split("\n").at(-1));
      };
      const least = { effect: Infinity, services: Infinity };
      for (let round = 0; round < 5 && !(least.services / least.effect < 4); round++) {
        least.effect = Math.min(least.effect, await processorTime(`await import("effect");`));
        least.services = Math.min(least.services, await processorTime(embedded));
      }
      expect(least.services / least.effect).toBeLessThan(4);
    },
  );
});

const lint = async (tarball: string): Promise<ReadonlyArray<string>> => {
  const bytes = await readFile(tarball);
  const { messages, pkg } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer }, strict: true });
  return messages.map((message) => formatMessage(message, pkg) ?? message.code);
};
