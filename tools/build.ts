/**
 * Compiles the published packages to `packages/<name>/dist`: modules, declarations, and maps that point at the
 * sources published next to them. The workspace itself runs the sources.
 */
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { compile } from "./compile.ts";
import { publishablePackages, root } from "./publishable.ts";

/** Compiles all packages at once. Fails on a type error. */
export const build = async (): Promise<void> => {
  const compiled = await compile();
  for (const { folder } of publishablePackages()) {
    const dist = join(root, folder, "dist");
    rmSync(dist, { recursive: true, force: true });
    cpSync(join(compiled, basename(folder)), dist, { recursive: true });
    pointMapsAtSources(dist, folder);
  }
};

/** Corrects the paths of sources in source maps. The compiler made the paths relative to its own output folder. */
const pointMapsAtSources = (compiled: string, folder: string): void => {
  for (const file of globSync("**/*.map", { cwd: compiled })) {
    const map = JSON.parse(readFileSync(join(compiled, file), "utf8")) as { readonly sources: [string] };
    const [, source] = map.sources[0].split(`/${folder}/`);
    const up = "../".repeat(file.split("/").length);
    writeFileSync(join(compiled, file), JSON.stringify({ ...map, sources: [`${up}${source}`] }));
  }
};

if (import.meta.main) await build();
