/**
 * Lists the entry points of a package from its `exports`. A pattern such as `./*` gives one entry point for each file
 * that it matches. Files for tests are left out, since they are not published.
 */
import { globSync } from "node:fs";
import { join } from "node:path";
import { type Package, root } from "./publishable.ts";

export interface EntryPoint {
  /** The import specifier, such as `@accountlink/core/links`. */
  readonly specifier: string;
  readonly subpath: string;
  /** The path of the source, relative to the package folder: `./links/mod.ts`. */
  readonly source: string;
}

export const isForTests = (path: string): boolean => path.includes("/test_");

export const entryPointsOf = ({ folder, manifest }: Package): ReadonlyArray<EntryPoint> =>
  Object.entries(manifest.exports ?? {}).flatMap(([pattern, target]) => {
    if (target === null || isForTests(target)) return [];
    const [before = "", after] = target.split("*");
    const options = { cwd: join(root, folder), exclude: ["**/*_test.ts", "**/test_*.ts"] };
    const sources = after === undefined ? [target] : globSync(target, options).map((path) => `./${path}`);
    return sources.toSorted().map((source) => {
      const part = after === undefined ? "" : source.slice(before.length, source.length - after.length);
      const subpath = pattern.replace("*", part);
      return { specifier: `${manifest.name}${subpath.slice(1)}`, subpath, source };
    });
  });
