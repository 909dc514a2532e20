import { cp, mkdir, mkdtemp, readFile, rm, stat, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const finder = "apps/server/any_node/bundle.mjs";
const source = "packages/core/link.ts";

let root = "";
let findBundle: () => string | null = () => null;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "accountlink-bundle-"));
  for (const folder of ["apps/server/any_node", "apps/server/dist", "packages/core"])
    await mkdir(join(root, folder), { recursive: true });
  await cp(fileURLToPath(new URL(`../${finder}`, import.meta.url)), join(root, finder));
  await writeFile(join(root, source), "export const one = 1;\n");
  const { size, mtimeMs } = await stat(join(root, source));
  const sources = [[source, size, Math.floor(mtimeMs / 1_000)]];
  await writeFile(
    join(root, "apps/server/dist/bundle.json"),
    JSON.stringify({ entry: "run_process-A.js", sources }),
  );
  ({ findBundle } = await import(join(root, finder)));
});
afterEach(() => rm(root, { recursive: true }));

describe("the bundle of the server", () => {
  it("the bundle is used only while its sources are unchanged", async () => {
    expect(findBundle()).toMatch(/\/dist\/run_process-A\.js$/);
    await writeFile(join(root, source), "export const one = 11;\n");
    expect(findBundle()).toBeNull();
  });

  it("the bundle is not used if the bundle or one of its sources is missing", async () => {
    await unlink(join(root, source));
    expect(findBundle()).toBeNull();
    await rm(join(root, "apps/server/dist"), { recursive: true });
    expect(findBundle()).toBeNull();
  });

  it("the bundle contains the sources of this checkout, which lose nothing in it", async () => {
    const repository = fileURLToPath(new URL("../", import.meta.url));
    const made = join(repository, "apps/server/dist");
    const { entry, sources } = JSON.parse(await readFile(join(made, "bundle.json"), "utf8"));
    expect(sources.map(([path]: [string]) => path)).toEqual(
      expect.arrayContaining([
        "pnpm-lock.yaml",
        "apps/server/commands/run_process.ts",
        "packages/core/mod.ts",
      ]),
    );
    expect((await stat(join(made, entry))).isFile()).toBe(true);

    // Rolldown leaves out calls that are made only for their errors.
    const dropped = /^\s*(?:de|en)codeURI\w*\(.*\);$/m;
    const texts = await Promise.all(
      sources.map(async ([path]: [string]) => [path, await readFile(join(repository, path), "utf8")]),
    );
    expect(texts.flatMap(([path, text]) => (dropped.test(text) ? [path] : []))).toEqual([]);
  });
});
