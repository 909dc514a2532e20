import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { assert } from "@effect/vitest";
import { Effect } from "effect";

/**
 * For tests: runs a program in a process that is killed by SIGKILL, and returns its output, as
 * JSON.
 */
export const outputOfKilled = Effect.fnUntraced(function* <Output>(program: string) {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    // The folder from which its imports resolve.
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output, [, signal]] = yield* Effect.promise(() =>
    Promise.all([text(child.stdout), once(child, "exit")]),
  );
  assert.strictEqual(signal, "SIGKILL");
  return JSON.parse(output) as Output;
});
