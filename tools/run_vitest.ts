import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Counts } from "./counts.ts";

/** By the start of its user agent: the command that runs a script in that runtime, and its workers with it. */
const runtimes = {
  "Node.js/24": [process.execPath],
  Deno: ["node_modules/deno/deno", "run", "--allow-all"],
  Bun: ["node_modules/bun/bin/bun.exe", "--bun"],
} as const satisfies Record<string, ReadonlyArray<string>>;

type Runtime = keyof typeof runtimes;

/**
 * Runs projects of `vitest.config.ts` in a runtime, with the output passed on.
 * A run that fails in no test, such as one that finds none, counts as one failure.
 */
export const runVitest = async (
  runtime: Runtime,
  projects: ReadonlyArray<string>,
  options: ReadonlyArray<string> = [],
): Promise<Counts> => {
  console.log(`\nTests on ${runtime}: ${projects.join(", ")}`);
  const folder = await mkdtemp(join(tmpdir(), "accountlink-vitest-"));
  const report = join(folder, "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const selection = projects.map((project) => `--project=${project}`);
  try {
    const succeeded = await run(runtime, [
      "node_modules/vitest/vitest.mjs",
      "run",
      ...reporters,
      ...selection,
      ...options,
    ]);
    const counts = await readCounts(report);
    return succeeded ? counts : { ...counts, failed: Math.max(1, counts.failed) };
  } finally {
    await rm(folder, { recursive: true });
  }
};

const run = (runtime: Runtime, script: ReadonlyArray<string>): Promise<boolean> => {
  const [program, ...args] = runtimes[runtime];
  const env = { ...process.env, ACCOUNTLINK_TEST_RUNTIME: runtime };
  const child = spawn(program, [...args, ...script], { stdio: "inherit", env });
  return new Promise((resolve) => {
    child.once("exit", (code) => resolve(code === 0));
    child.once("error", (error) => {
      console.error(`Cannot run the tests on ${runtime}: ${error.message}`);
      resolve(false);
    });
  });
};

const readCounts = async (report: string): Promise<Counts> => {
  const json = await readFile(report, "utf8").catch(() => "{}");
  const { numPassedTests = 0, numFailedTests = 0, numPendingTests = 0, numTodoTests = 0 } = JSON.parse(json);
  return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests + numTodoTests };
};
