/**
 * Compiles the published packages to `packages/<name>/dist`: modules, declarations, and maps that point at the
 * sources published next to them. The workspace itself runs the sources.
 */
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
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
    declareJson(dist);
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

/**
 * Replaces each import of the type of a JSON file in declarations by the type itself. A compiler with `module` set to
 * `node16` would refuse the import without the option `resolveJsonModule`.
 */
const declareJson = (compiled: string): void => {
  for (const file of globSync("**/*.d.ts", { cwd: compiled })) {
    const path = join(compiled, file);
    const declarations = readFileSync(path, "utf8");
    const declared = declarations.replaceAll(
      /^import type (\w+) from "(\.[^"]+\.json)";$/gm,
      (_, name: string, json: string) => {
        const values = JSON.parse(readFileSync(join(dirname(path), json), "utf8")) as object;
        const fields = Object.keys(values).map((key) => `  readonly ${JSON.stringify(key)}: string;`);
        return `declare const ${name}: {\n${fields.join("\n")}\n};`;
      },
    );
    if (declared !== declarations) writeFileSync(path, declared);
  }
};

if (import.meta.main) await build();
