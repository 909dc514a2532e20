/**
 * Publishes the packages to JSR in a dry run. The types of services are inferred, and JSR accepts inferred types only
 * with `--allow-slow-types`.
 */
import { cp, readdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { jsrManifestOf } from "../../tools/jsr.ts";
import { publishablePackages, root } from "../../tools/publishable.ts";
import { useFolder } from "../support/folder.ts";
import { run } from "./project.ts";

const folder = useFolder();

it("a dry run publishes every package", async () => {
  const packages = publishablePackages();
  for (const described of packages) {
    // Do not copy the npm manifests: they refer to the npm workspace, which is not copied.
    const filter = (path: string) => !["node_modules", "dist", "package.json"].includes(basename(path));
    const copy = join(folder, described.folder);
    await cp(join(root, described.folder), copy, { recursive: true, filter });
    await writeFile(join(copy, "jsr.json"), JSON.stringify(jsrManifestOf(described)));
  }
  const workspace = (await readdir(join(folder, "packages"))).map((name) => `./packages/${name}`);
  await writeFile(join(folder, "deno.json"), JSON.stringify({ workspace }));
  const deno = join(root, "node_modules/deno/deno");
  const options = ["--dry-run", "--allow-dirty", "--no-check", "--allow-slow-types"];
  const publish = `NO_COLOR=1 exec "$0" publish "$@" 2>&1`;
  const output = await run(folder, ["sh", "-c", publish, deno, ...options]);
  expect(output.match(/^Simulating publish of/gm)).toHaveLength(packages.length);
});
