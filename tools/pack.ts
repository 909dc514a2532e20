/**
 * Builds each published package, and packs it into the tarball to publish. Run as a program, it writes the tarballs
 * into the given folder, by default `dist`, and prints their paths.
 */
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { build } from "./build.ts";
import { publishablePackages, root } from "./publishable.ts";

/**
 * Returns the path of each tarball by package name.
 *
 * @param names package names; all published packages by default
 */
export const pack = async (
  folder: string,
  names: ReadonlyArray<string> = publishablePackages().map(({ manifest }) => manifest.name),
): Promise<ReadonlyMap<string, string>> => {
  await build();
  await mkdir(folder, { recursive: true });
  const filters = names.map((name) => `--filter=${name}`);
  const args = ["--recursive", ...filters, "pack", "--json", `--pack-destination=${folder}`];
  const { stdout } = await promisify(execFile)(join(root, "tools/pnpm"), args, { cwd: root });
  // For a single package, `pnpm pack --json` prints an object instead of an array.
  const packed = [JSON.parse(stdout)].flat() as ReadonlyArray<{
    readonly name: string;
    readonly filename: string;
  }>;
  return new Map(packed.map(({ name, filename }) => [name, filename]));
};

if (import.meta.main) {
  const tarballs = await pack(resolve(process.argv[2] ?? join(root, "dist")));
  for (const tarball of tarballs.values()) console.log(tarball);
}
