/**
 * Puts the newest Effect 4 into the catalog and the lockfile, for the monthly run that says what breaks with it:
 * `tools/node tools/newest_effect.ts && npm run check && npm test`.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./publishable.ts";

/** The packages of Effect that the published packages depend on. */
const names = ["effect", "@effect/platform-node", "@effect/sql-pg"];

/** Returns the catalog with other versions; the ranges of published packages stay. */
export const withVersions = (catalog: string, versions: ReadonlyMap<string, string>): string =>
  catalog.replaceAll(/^( {2}"?([\w@/-]+)"?: )\d\S*$/gm, (line, before: string, name: string) => {
    const version = versions.get(name);
    return version === undefined ? line : before + version;
  });

/** Asks the registry for the newest version of Effect's fourth generation, in which `^4` leaves out previews. */
const newest = (name: string): string => {
  const found = JSON.parse(
    execFileSync("npm", ["view", `${name}@^4`, "version", "--json"], { encoding: "utf8" }),
  ) as string | ReadonlyArray<string>;
  const version = typeof found === "string" ? found : found.at(-1);
  if (version === undefined) throw new Error(`Cannot find a version of "${name}", expected one that is ^4`);
  return version;
};

if (import.meta.main) {
  const versions = new Map(names.map((name) => [name, newest(name)]));
  for (const [name, version] of versions) console.log(`${name} ${version}`);
  const path = join(root, "pnpm-workspace.yaml");
  writeFileSync(path, withVersions(readFileSync(path, "utf8"), versions));
  execFileSync(join(root, "tools/pnpm"), ["install", "--no-frozen-lockfile"], {
    cwd: root,
    stdio: "inherit",
  });
}
