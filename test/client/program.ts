/** Runs the programs in `examples` on their runtimes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { printedBy } from "@accountlink/server/test_command_line";
import { compileCache } from "@accountlink/test-servers";
import { eventually } from "../support/eventually.ts";
import { pathOf } from "./python.ts";
import type { Experience } from "./roblox.ts";

/** The command with which each runtime starts a TypeScript program. */
export const runtimes: Readonly<Record<string, readonly [string, ...ReadonlyArray<string>]>> = {
  Node: [process.execPath],
  Deno: [pathOf("node_modules/deno/deno"), "run", "--allow-net", "--allow-env"],
  Bun: [pathOf("node_modules/bun/bin/bun.exe")],
};

export type RunningProgram = ReturnType<typeof startProgram>;

export const startExample = (
  runtime: string,
  name: string,
  env: Readonly<Record<string, string>>,
): RunningProgram => {
  const [command, ...options] = runtimes[runtime] ?? [process.execPath];
  return startProgram([command, ...options, pathOf(`examples/${name}`)], tmpdir(), {
    HOME: process.env["HOME"] ?? "",
    ...env,
  });
};

/** Starts a script in a Roblox experience. */
export const playExperience = (experience: Partial<Experience>): RunningProgram => {
  const all: Partial<Experience> = { secrets: {}, http: true, clock: "real", input: [], ...experience };
  const program = pathOf("test/client/roblox.ts");
  return startProgram([process.execPath, program], import.meta.dirname, compileCache, JSON.stringify(all));
};

/** Starts a program in a folder, with only these environment variables, and writes `input` to its standard input. */
export const startProgram = (
  [command, ...options]: readonly [string, ...ReadonlyArray<string>],
  cwd: string,
  env: Readonly<NodeJS.ProcessEnv>,
  input = "",
) => {
  const child = spawn(command, options, { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(input);
  const output = printedBy(child.stdout);
  /** Resolves to the exit code when the program has ended; null if a signal ended it. */
  const ended = once(child, "close").then(([code]) => code as number | null);
  return {
    output,
    /** Waits for output that matches the pattern and returns its first group. */
    untilPrinted: (pattern: RegExp) =>
      eventually(() => {
        const printed = output();
        // The last line may still be arriving.
        const found = pattern.exec(printed.slice(0, printed.lastIndexOf("\n") + 1))?.[1];
        if (found === undefined) throw new Error(`Cannot find ${pattern} in the output: ${printed}`);
        return found;
      }),
    ended,
    stop: async () => {
      child.kill();
      await ended;
    },
  };
};
