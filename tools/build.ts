/**
 * Compiles the published packages to `packages/<name>/dist`: modules, declarations and their maps,
 * which lead to the sources that are published beside them. The workspace itself runs the sources.
 */
import { globSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compile } from "./compile.ts";
import { publishablePackages, root } from "./publishable.ts";

/**
 * Compiles all of them at once. Fails if there is a type error.
 *
 * @param options of the compiler; `--noCheck` halves the time
 */
export const build = async (...options: ReadonlyArray<string>): Promise<void> => {
  // In the repository, so that a move stays on its file system.
  const output = mkdtempSync(join(root, "node_modules/.build-"));
  try {
    await compile(output, options);
    for (const { folder } of publishablePackages()) {
      const compiled = join(output, folder.replace("packages/", ""));
      pointMapsAtSources(compiled, folder);
      rmSync(join(root, folder, "dist"), { recursive: true, force: true });
      renameSync(compiled, join(root, folder, "dist"));
    }
  } finally {
    rmSync(output, { recursive: true });
  }
};

/** From `dist/links/link.js` the source is `../../links/link.ts`; the compiler wrote where it was. */
const pointMapsAtSources = (compiled: string, folder: string): void => {
  for (const file of globSync("**/*.map", { cwd: compiled })) {
    const map = JSON.parse(readFileSync(join(compiled, file), "utf8")) as { readonly sources: [string] };
    const [, source] = map.sources[0].split(`/${folder}/`);
    const up = "../".repeat(file.split("/").length);
    writeFileSync(join(compiled, file), JSON.stringify({ ...map, sources: [`${up}${source}`] }));
  }
};

if (import.meta.main) await build();
