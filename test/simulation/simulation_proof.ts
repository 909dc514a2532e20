import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { mistakes, mistakeVariable } from "./mistakes.ts";

const run = promisify(execFile);
const file = (name: string) => join(import.meta.dirname, name);

/** `ACCOUNTLINK_SIMULATED_SCHEDULES` says how many schedules; a million otherwise. */
const schedules = Number(process.env["ACCOUNTLINK_SIMULATED_SCHEDULES"] ?? 1_000_000);

/** Within how many schedules a mistake has to be found. */
const soon = 10_000;

const workspace = JSON.parse(await readFile(file("../../package.json"), "utf8")) as {
  readonly scripts: { readonly simulate: string };
};

/** Those of `npm run simulate`. */
const simulateFlags = workspace.scripts.simulate.split(" ").filter((word) => word.startsWith("--"));

const simulate = async (from: number, count: number, mistake?: number) => {
  const breaking = mistake === undefined ? [] : ["--import", file("break_sources.ts")];
  const args = [
    ...breaking,
    ...simulateFlags,
    file("simulate.ts"),
    `--from=${from}`,
    `--schedules=${count}`,
    ...(mistake === undefined ? [] : ["--brief"]),
  ];
  const env = { ...process.env, [mistakeVariable]: String(mistake) };
  return await run(process.execPath, args, { env, maxBuffer: 2 ** 26 }).then(
    ({ stdout }) => ({ isBroken: false, stdout }),
    ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => {
      if (stderr !== "") throw new Error(stderr);
      return { isBroken: true, stdout };
    },
  );
};

/** A million takes some hours, in milliseconds. */
const longEnough = 12 * 3_600_000;

describe("the simulation", () => {
  it(`keeps every promise in ${schedules} schedules`, { timeout: longEnough }, async () => {
    const { isBroken, stdout } = await simulate(1, schedules);
    console.log(stdout);
    expect(isBroken).toBe(false);
  });

  it.each(mistakes.map(({ what }, index) => [what, index] as const))("finds: %s", async (what, index) => {
    const { isBroken, stdout } = await simulate(1, soon, index);
    expect(isBroken).toBe(true);
    console.log(`${what}: ${stdout.match(/^Seed \d+/m)?.[0]}`);
  });
});
