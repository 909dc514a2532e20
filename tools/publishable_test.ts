import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { entryPointsOf, isForTests } from "./entry_points.ts";
import { jsrManifestOf } from "./jsr.ts";
import { packageIn, publishablePackages, root } from "./publishable.ts";

/** Files besides the sources that a package needs. */
const data: Readonly<Record<string, ReadonlyArray<string>>> = {
  "packages/http-api": ["open_api/answers.json"],
  "packages/pages": ["languages/*.json", "languages/dashboard/*.json"],
};

const packages = publishablePackages();
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly version: string;
};

describe.each(packages)("$folder", ({ folder, manifest }) => {
  it("the manifest has the fields that every package must have", () => {
    expect(manifest).toMatchObject({
      version,
      description: expect.stringMatching(/^[A-Z].*[^.]$/),
      keywords: expect.arrayContaining(["accountlink"]),
      license: "MIT",
      repository: {
        type: "git",
        url: "git+https://github.com/accountlink/accountlink.git",
        directory: folder,
      },
      type: "module",
      sideEffects: false,
      engines: { node: ">=20" },
      files: ["dist", "**/*.ts", ...(data[folder] ?? []), "!**/*_test.ts", "!**/test_*.ts"],
    });
  });

  it("the package has a README", () => expect(existsSync(join(root, folder, "README.md"))).toBe(true));

  it("the package publishes each of its entry points in compiled form", () => {
    const exports = Object.entries(manifest.exports ?? {}).filter(([path]) => !isForTests(path));
    expect(manifest["publishConfig"]).toEqual({
      access: "public",
      exports: compiled(Object.fromEntries(exports)),
      // The manifest has `bin` only if the package has a command line.
      ...(manifest.bin === undefined ? {} : { bin: compiled(manifest.bin) }),
    });
    const sources = entryPointsOf({ folder, manifest }).map(({ source }) => source);
    expect(sources.length).toBeGreaterThanOrEqual(exports.length);
    const missing = sources.filter((source) => !existsSync(join(root, folder, source)));
    expect(missing).toEqual([]);
  });

  it("the package depends on effect only as a peer, and otherwise only on published packages", () => {
    const dependencies = manifest.dependencies ?? {};
    expect(Object.keys(dependencies)).not.toContain("effect");
    const isOwn = (name: string) => /^@?accountlink/.test(name);
    const own = Object.keys(dependencies).filter(isOwn);
    expect(packages.map(({ manifest: { name } }) => name)).toEqual(expect.arrayContaining(own));
    const others = Object.entries({ ...dependencies, ...manifest.peerDependencies });
    expect(others.filter(([name, range]) => !isOwn(name) && range !== "catalog:published")).toEqual([]);
  });
});

it("jsr.json has a scoped name, and names the registry of each import", () => {
  expect(jsrManifestOf(packageIn("packages/accountlink"))).toMatchObject({
    name: "@accountlink/accountlink",
    version,
    exports: { ".": "./mod.ts", "./sqlite": "./sqlite.ts" },
    imports: {
      "@accountlink/core": `jsr:@accountlink/core@^${version}`,
      effect: expect.stringMatching(/^npm:effect@\^4\./),
    },
  });
});

const compiled = (paths: Readonly<Record<string, string | null>>): object =>
  Object.fromEntries(Object.entries(paths).map(([name, source]) => [name, compiledPath(source)]));

const compiledPath = (source: string | null): string | null =>
  source?.replace(/^\.\//, "./dist/").replace(/\.ts$/, ".js") ?? null;
