/**
 * Runs of the program that are expected to end by themselves.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../../apps/server/main.ts", import.meta.url));

/** How a run ended. */
interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Starts `accountlink` with these arguments.
 *
 * @param environment all of its variables; it inherits none
 */
export const start = (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
): { readonly child: ChildProcess; readonly ended: Promise<Ended> } => {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return {
    child,
    ended: output.then(([stdout, stderr]) => ({ code: child.exitCode, stdout, stderr })),
  };
};
