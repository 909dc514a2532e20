import { execFile } from "node:child_process";
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { root } from "../publishable.ts";
import { withVersion } from "./changelog.ts";
import { pendingChangesets } from "./changesets.ts";

const run = promisify(execFile);

describe("withVersion", () => {
  const changesets = [
    { packages: { a: "patch" }, summary: "A fix." },
    { packages: { a: "patch", b: "minor" }, summary: "Something\nnew." },
  ] as const;

  it("withVersion adds the new version above the older ones", () => {
    const text = "# Changelog\n\n## 0.1.0, 2026-11-01\n\n- The first.\n";
    expect(withVersion(text, "0.2.0", "2026-11-02", changesets)).toBe(`# Changelog

## 0.2.0, 2026-11-02

### Added

- Something
  new. (a, b)

### Fixed

- A fix. (a)

## 0.1.0, 2026-11-01

- The first.
`);
  });

  it("withVersion writes the first version of a changelog", () => {
    const [fix] = changesets;
    expect(withVersion("# Changelog\n", "0.0.1", "2026-11-02", [fix])).toBe(
      "# Changelog\n\n## 0.0.1, 2026-11-02\n\n### Fixed\n\n- A fix. (a)\n",
    );
  });
});

const copy = mkdtempSync(join(tmpdir(), "accountlink-release-"));
afterAll(() => rmSync(copy, { recursive: true }));

describe("pendingChangesets", () => {
  it.each(["Links", '---\n"pkg": small\n---\nLinks', '---\n"pkg": minor\n---\n'])("refuses %j", (text) => {
    const folder = join(copy, "refused");
    mkdirSync(join(folder, ".changeset"), { recursive: true });
    writeFileSync(join(folder, ".changeset/a.md"), text);
    expect(() => pendingChangesets(folder)).toThrow("Cannot read .changeset/a.md: expected lines such as");
  });
});

describe("npm run release", () => {
  const read = (file: string) => readFileSync(join(copy, file), "utf8");
  const versionOf = (file: string) => (JSON.parse(read(file)) as { readonly version: string }).version;

  it("npm run release gives all packages one version and writes the changelog", async () => {
    const manifests = globSync("{package.json,{packages,apps}/*/package.json,test/package.json}", {
      cwd: root,
    });
    const others = globSync(["pnpm-workspace.yaml", "CHANGELOG.md", ".changeset/*.json", "tools/**/*.ts"], {
      cwd: root,
    });
    const ofClients = ["clients/python/pyproject.toml", "clients/luau/wally.toml"];
    for (const file of [...manifests, ...ofClients, ...others]) cpSync(join(root, file), join(copy, file));
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    writeFileSync(join(copy, ".changeset/one.md"), '---\n"@accountlink/core": major\n---\n\nOther.\n');
    const [before = ""] = manifests.map(versionOf);

    await run(process.execPath, ["tools/release/release.ts"], { cwd: copy });

    const [after = "", ...versions] = new Set(manifests.map(versionOf));
    expect(versions).toEqual([]);
    expect(Number.parseInt(after)).toBe(Number.parseInt(before) + 1);
    for (const file of ofClients) expect(read(file)).toContain(`\nversion = "${after}"\n`);
    expect(read("CHANGELOG.md")).toContain(`### Breaking changes\n\n- Other. (@accountlink/core)`);
    expect(globSync(".changeset/*.md", { cwd: copy })).toEqual([]);
  });
});
