/**
 * Makes the next version from the pending changesets: raises the version of all packages and writes CHANGELOG.md.
 * `npm run release`; CONTRIBUTING.md describes the steps before and after.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../publishable.ts";
import { withVersion } from "./changelog.ts";
import { pendingChangesets } from "./changesets.ts";

const update = (file: string, change: (text: string) => string) =>
  writeFileSync(join(root, file), change(readFileSync(join(root, file), "utf8")));

const pending = pendingChangesets(root);
if (pending.length === 0) throw new Error("Cannot make a version: .changeset has no changeset");
const { status } = spawnSync(process.execPath, ["node_modules/@changesets/cli/bin.js", "version"], {
  cwd: root,
  stdio: "inherit",
});
if (status !== 0) throw new Error("Cannot raise the versions");

const { version } = JSON.parse(readFileSync(join(root, "packages/accountlink/package.json"), "utf8")) as {
  readonly version: string;
};
update("package.json", (text) => text.replace(/"version": ".*?"/, `"version": "${version}"`));
for (const manifest of ["clients/python/pyproject.toml", "clients/luau/wally.toml"])
  update(manifest, (text) => text.replace(/^version = ".*?"/m, `version = "${version}"`));
update("CHANGELOG.md", (text) => withVersion(text, version, new Date().toISOString().slice(0, 10), pending));
console.log(`Version ${version}. Read CHANGELOG.md, then commit and publish as CONTRIBUTING.md says`);
