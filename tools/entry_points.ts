/** The entry points of a package, with those that a pattern of its `exports` stands for. */
import { globSync } from "node:fs";
import { join } from "node:path";
import { type Package, root } from "./publishable.ts";

export interface EntryPoint {
  /** What a user imports, such as `@accountlink/core/links`. */
  readonly specifier: string;
  /** As in `exports`: `./links`. */
  readonly subpath: string;
  /** The path of the source from the folder of the package: `./links/mod.ts`. */
  readonly source: string;
}

export const entryPointsOf = ({ folder, manifest }: Package): ReadonlyArray<EntryPoint> =>
  Object.entries(manifest.exports ?? {}).flatMap(([pattern, target]) => {
    if (target === null) return [];
    const [before = "", after] = target.split("*");
    const options = { cwd: join(root, folder), exclude: ["**/*_test.ts", "**/test_*.ts"] };
    const sources = after === undefined ? [target] : globSync(target, options).map((path) => `./${path}`);
    return sources.toSorted().map((source) => {
      const part = after === undefined ? "" : source.slice(before.length, source.length - after.length);
      const subpath = pattern.replace("*", part);
      return { specifier: `${manifest.name}${subpath.slice(1)}`, subpath, source };
    });
  });
