/** Runs commands of the documents in a shell. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const main = fileURLToPath(new URL("../../apps/server/main.ts", import.meta.url));

/** Runs a block and returns its standard output; rejects if one of its commands fails. */
export const runShell = async (
  block: string,
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<string> => {
  // The documents start programs from the folder of the checkout, but tests run the blocks in another folder. So insert
  // the full paths of the programs.
  const node = `"${process.execPath}"`;
  const commands = block.replaceAll(/npm run -s accountlink --|tools\/node/g, (program) =>
    program.startsWith("npm") ? `${node} "${main}"` : node,
  );
  const env = { PATH: process.env["PATH"] ?? "", ...options.env };
  const { stdout } = await run("sh", ["-ec", commands], { cwd: options.cwd, env });
  return stdout;
};

export const hasProgram = (name: string): Promise<boolean> =>
  run("sh", ["-c", `command -v ${name}`]).then(
    () => true,
    () => false,
  );

export type Shell = ReturnType<typeof openShell>;

/** Opens a shell that keeps its variables, functions and current folder from one block to the next. */
export const openShell = (options: {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
  /** The time limit of a block, in milliseconds. */
  readonly timeout: number;
}) => {
  const { cwd, env, folder, timeout } = options;
  const shell = spawn("sh", ["-e"], { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
  const ended = once(shell, "close");
  const files = {
    block: join(folder, "block"),
    output: join(folder, "output"),
    errors: join(folder, "errors"),
  };
  /** Runs a block and returns its standard output; rejects if one of its commands fails. */
  const type = async (block: string) => {
    await writeFile(files.block, block);
    const done = once(shell.stdout, "data", { signal: AbortSignal.timeout(timeout) });
    shell.stdin.write(`. ${files.block} </dev/null >${files.output} 2>${files.errors}\necho done\n`);
    const isDone = await Promise.race([done, ended]).then(
      () => shell.exitCode === null,
      () => false,
    );
    const output = await readFile(files.output, "utf8");
    if (isDone) return output;
    shell.kill();
    const errors = await readFile(files.errors, "utf8");
    throw new Error(`Cannot run a block. It is\n${block}\nand it printed\n${output}\n${errors}`);
  };
  return { type, close: () => void shell.kill() };
};
