/** The published packages: all packages under `packages` that are not private. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "..");

export interface Manifest {
  readonly name: string;
  readonly version?: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, string | null>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

export interface Package {
  /** The path from the root, such as `packages/core`. */
  readonly folder: string;
  readonly manifest: Manifest;
}

export const packageIn = (folder: string): Package => ({
  folder,
  manifest: JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest,
});

export const publishablePackages = (): ReadonlyArray<Package> =>
  globSync("packages/*/package.json", { cwd: root })
    .toSorted()
    .map((file) => packageIn(dirname(file)))
    .filter(({ manifest }) => manifest.private !== true);
