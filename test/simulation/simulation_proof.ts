import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const file = (name: string) => join(import.meta.dirname, name);

/** `ACCOUNTLINK_SIMULATED_SCHEDULES` sets the number of schedules; a million by default. */
const schedules = Number(process.env["ACCOUNTLINK_SIMULATED_SCHEDULES"] ?? 1_000_000);

const workspace = JSON.parse(await readFile(file("../../package.json"), "utf8")) as {
  readonly scripts: { readonly simulate: string };
};

/** Node flags of `npm run simulate`. */
const simulateFlags = workspace.scripts.simulate.split(" ").filter((word) => word.startsWith("--"));

/** Timeout in milliseconds: a million schedules take some hours. */
const longEnough = 12 * 3_600_000;

it(`the service keeps every promise in ${schedules} simulated schedules`, {
  timeout: longEnough,
}, async () => {
  const args = [...simulateFlags, file("simulate.ts"), "--from=1", `--schedules=${schedules}`];
  // If a schedule breaks a promise of the service, `simulate.ts` prints the events of the schedule and exits with 1.
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 }).catch(
    (error: Error & { readonly stdout: string }) => {
      console.log(error.stdout);
      throw error;
    },
  );
  console.log(stdout);
  expect(stdout).toMatch(new RegExp(`^${schedules} schedules, `, "m"));
});
