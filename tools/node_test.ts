import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);

let folder = "";
let program = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "accountlink-node-"));
  program = join(folder, "tools/node");
  await cp(fileURLToPath(new URL("node", import.meta.url)), program);
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs `tools/node` as on a machine whose own Node is in the folder `ownNode`. */
const runOn = (ownNode: string, ...args: ReadonlyArray<string>) =>
  run(program, args, { env: { PATH: [ownNode, "/usr/bin", "/bin"].join(delimiter) } });

const own = dirname(process.execPath);
const hasOldNode = await run("/usr/bin/node", ["--version"]).then(
  ({ stdout }) => parseInt(stdout.slice(1), 10) < 24,
  () => false,
);

describe("tools/node", () => {
  it("tools/node runs the machine's Node if no package exists for the platform", async () => {
    expect((await runOn(own, "-p", "process.version")).stdout).toBe(`${process.version}\n`);
  });

  it.skipIf(!hasOldNode)(
    "tools/node refuses the machine's Node if it is too old (here /usr/bin/node is new enough)",
    async () => {
      await expect(runOn("/usr/bin", "-p", "1")).rejects.toMatchObject({
        stderr: expect.stringMatching(
          /^Cannot run: [^\n]* the machine's is v\d+[^\n]*, expected 24 or newer\n$/,
        ),
      });
    },
  );

  it("tools/node runs the installed Node, and exits with its exit code", async () => {
    const installed = join(folder, "node_modules/node-some-platform/bin");
    await mkdir(installed, { recursive: true });
    await symlink(process.execPath, join(installed, "node"));
    expect((await runOn("/nowhere", "-p", "process.version")).stdout).toBe(`${process.version}\n`);
    await expect(runOn("/nowhere", "-e", "process.exit(7)")).rejects.toMatchObject({ code: 7 });
  });
});
