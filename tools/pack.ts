/**
 * Builds the published packages and packs them as `pnpm publish` would, into the folder that is
 * given, `dist` by default: `npm run pack -- /tmp/tarballs`.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "./build.ts";
import { publishablePackages, root } from "./publishable.ts";

/** Returns the path of each tarball, by the name of its package. */
export const pack = (folder: string): ReadonlyMap<string, string> => {
  build();
  mkdirSync(folder, { recursive: true });
  const filters = publishablePackages().map(({ manifest }) => `--filter=${manifest.name}`);
  const args = ["--recursive", ...filters, "pack", "--json", `--pack-destination=${folder}`];
  const { status, stdout, stderr } = spawnSync(join(root, "tools/pnpm"), args, {
    cwd: root,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`Cannot pack the packages:\n${stdout}${stderr}`);
  const packed = JSON.parse(stdout) as ReadonlyArray<{ readonly name: string; readonly filename: string }>;
  return new Map(packed.map(({ name, filename }) => [name, filename]));
};

if (import.meta.main) {
  for (const tarball of pack(resolve(process.argv[2] ?? join(root, "dist"))).values()) console.log(tarball);
}
