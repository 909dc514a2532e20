import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { isProof } from "../test/servers/is_proof.ts";

const run = promisify(execFile);
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

// It downloads the archive.
test.runIf(isProof)("tools/pnpm refuses an archive whose hash differs from packageManager", async () => {
  const folder = await mkdtemp(join(tmpdir(), "accountlink-pnpm-"));
  try {
    await cp(pathOf("pnpm"), join(folder, "tools/pnpm"));
    const { packageManager } = JSON.parse(await readFile(pathOf("../package.json"), "utf8"));
    const named = String(packageManager);
    const hash = named.replace(/.*\+sha512\./, "");
    const wrongHash = "0".repeat(hash.length);
    const wrong = JSON.stringify({ packageManager: named.replace(hash, wrongHash) });
    await writeFile(join(folder, "package.json"), wrong);

    await expect(run(join(folder, "tools/pnpm"), ["--version"], { cwd: folder })).rejects.toMatchObject({
      stderr: expect.stringContaining(`its archive has the SHA-512 ${hash}, expected ${wrongHash}`),
    });
    expect(await readdir(join(folder, "tools/.pnpm"))).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the lockfile is as pnpm writes it, so that tools/install keeps a complete installation", async () => {
  const installed = await readFile(pathOf("../node_modules/.pnpm/lock.yaml"), "utf8");
  expect(await readFile(pathOf("../pnpm-lock.yaml"), "utf8")).toBe(installed);
});

test("every script that npm runs before another belongs to a script", async () => {
  const { scripts } = JSON.parse(await readFile(pathOf("../package.json"), "utf8"));
  const first = Object.keys(scripts).filter((name) => name.startsWith("pre"));
  expect(first.filter((name) => !(name.slice("pre".length) in scripts))).toEqual([]);
});
