/**
 * Runs of the server that are expected to end by themselves.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/** The program. */
export const main = fileURLToPath(new URL("../../apps/server/main.ts", import.meta.url));

/** How a run ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs `accountlink serve` until it ends.
 *
 * @param environment all of its variables; it inherits none
 */
export const runServe = async (
  environment: Readonly<Record<string, string>>,
  flags: ReadonlyArray<string> = [],
): Promise<Ended> => {
  const child = spawn(process.execPath, [main, "serve", ...flags], {
    env: { ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: child.exitCode, stdout, stderr };
};
