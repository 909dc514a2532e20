/** For tests: a process that starts servers and is killed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { assert } from "@effect/vitest";
import { Effect } from "effect";

/** Runs a program in a process of its own, which has to end by SIGKILL, and gives what it printed as JSON. */
export const outputOfKilled = Effect.fnUntraced(function* <Output>(program: string) {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    // From where the packages that it imports are found.
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output, [, signal]] = yield* Effect.promise(() =>
    Promise.all([text(child.stdout), once(child, "exit")]),
  );
  assert.strictEqual(signal, "SIGKILL");
  return JSON.parse(output) as Output;
});
