/**
 * Static checks: types, lint, format, boundaries, unused code.
 * Run as a program, it exits with 1 if a step fails.
 */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { combine, type Results } from "./results.ts";

/** The command line of each step. All run on the Node that runs this file. */
const steps: Readonly<Record<string, ReadonlyArray<string>>> = {
  types: ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json"],
  "published types": ["tools/api/api.ts"],
  "portable types": ["node_modules/typescript/bin/tsc", "-p", "tsconfig.portable.json"],
  "effect rules": [
    "node_modules/@effect/tsgo/dist/effect-tsgo.cjs",
    "diagnostics",
    "--project=tsconfig.json",
    "--severity=error,warning",
    "--strict",
    "--format=text",
  ],
  lint: ["node_modules/oxlint/bin/oxlint"],
  format: ["node_modules/@biomejs/biome/bin/biome", "check"],
  boundaries: ["tools/boundaries.ts"],
  "unused code": ["node_modules/knip/bin/knip.js"],
};

/** Runs all steps in parallel and prints each result, with the output of steps that failed. */
export const check = async (): Promise<Results> =>
  combine(await Promise.all(Object.entries(steps).map(runStep)));

const runStep = async ([name, command]: [string, ReadonlyArray<string>]): Promise<Results> => {
  const started = performance.now();
  const child = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once("exit", resolve)),
  ]);
  const time = `${((performance.now() - started) / 1000).toFixed(1)} s`;
  const passed = code === 0;
  console.log(`${passed ? "ok    " : "FAILED"}  ${name.padEnd(16)} ${time}`);
  if (!passed) console.log(`${stdout}${stderr}`);
  const failures = passed ? [] : [name];
  return { passed: passed ? 1 : 0, failed: failures.length, skipped: 0, failures, flaky: [] };
};

if (import.meta.main) {
  const { failed } = await check();
  process.exitCode = failed === 0 ? 0 : 1;
}
