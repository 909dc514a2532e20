/**
 * Commands of the documents, run as a reader would type them.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const main = fileURLToPath(new URL("../../apps/server/main.ts", import.meta.url));

/** Runs a block and gives what it printed on standard output; it fails when one of its commands does. */
export const runShell = async (
  block: string,
  options: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    /** The path of the command line's `main.ts`; the one of this checkout when left out. */
    readonly program?: string;
  },
): Promise<string> => {
  // A reader is in the checkout; here the same programs run, in a folder where nothing is lost.
  const node = `"${process.execPath}"`;
  const commands = block.replaceAll(/npm run -s accountlink --|tools\/node/g, (program) =>
    program.startsWith("npm") ? `${node} "${options.program ?? main}"` : node,
  );
  const env = { PATH: process.env["PATH"] ?? "", ...options.env };
  const { stdout } = await run("sh", ["-ec", commands], { cwd: options.cwd, env });
  return stdout;
};

/** Whether the machine has a program. */
export const hasProgram = (name: string): Promise<boolean> =>
  run("sh", ["-c", `command -v ${name}`]).then(
    () => true,
    () => false,
  );
