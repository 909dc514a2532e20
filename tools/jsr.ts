/**
 * Writes the `jsr.json` of each published package from its `package.json`, for a release. In `jsr.json`, exports have
 * no patterns, every import names its registry, and every package name has a scope.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { entryPointsOf } from "./entry_points.ts";
import { type Manifest, type Package, publishablePackages, root } from "./publishable.ts";

export const jsrManifestOf = (described: Package): Readonly<Record<string, unknown>> => {
  const { folder, manifest } = described;
  const { name, version, license, dependencies, peerDependencies } = manifest;
  const imported = Object.keys({ ...dependencies, ...peerDependencies }).toSorted();
  return {
    name: scoped(name),
    version,
    license,
    exports: Object.fromEntries(entryPointsOf(described).map(({ subpath, source }) => [subpath, source])),
    imports: Object.fromEntries(imported.map((dependency) => [dependency, sourceOf(folder, dependency)])),
    // The written types are published, although git ignores them.
    publish: {
      exclude: [
        "**/*_test.ts",
        "**/test_*.ts",
        "dist",
        "package.json",
        "!contract.ts",
        "!languages/**/message_values.ts",
      ],
    },
  };
};

const scoped = (name: string): string => (name.startsWith("@") ? name : `@accountlink/${name}`);

/** Returns the JSR or npm specifier of an import. It allows the installed version and later compatible versions. */
const sourceOf = (folder: string, name: string): string => {
  const path = join(root, folder, "node_modules", name, "package.json");
  const { version } = JSON.parse(readFileSync(path, "utf8")) as Manifest;
  return /^@?accountlink\b/.test(name) ? `jsr:${scoped(name)}@^${version}` : `npm:${name}@^${version}`;
};

if (import.meta.main) {
  for (const described of publishablePackages()) {
    const file = join(root, described.folder, "jsr.json");
    writeFileSync(file, `${JSON.stringify(jsrManifestOf(described), null, 2)}\n`);
  }
}
