import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { root } from "./publishable.ts";

it.each([
  [
    "bench/bench.ts",
    "--on=postgres",
    1,
    'Cannot run the bench: --on is "postgres", expected memory, embedded, shared\n',
  ],
  ["tools/proof.ts", "--help", 0, "Usage: npm run proof "],
  ["tools/proof.ts", "fast", 1, 'no part is called "fast"'],
])("%s %s says what it takes instead of running, and exits with code %i", (file, option, code, said) => {
  // Without this end, a run that begins would go on for hours.
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, option], {
    cwd: root,
    encoding: "utf8",
    timeout: 60_000,
  });
  expect([status, stdout + stderr]).toEqual([code, expect.stringContaining(said)]);
});
