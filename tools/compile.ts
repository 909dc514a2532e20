/** Compiles the published packages, and caches the output for unchanged sources. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { root } from "./publishable.ts";
import { writeTypes } from "./written_types.ts";

/**
 * The first project compiles the umbrella package `accountlink`, the packages that import it, and everything that they
 * import. The second project compiles all other packages without the umbrella, and overwrites their files.
 *
 * In declarations, the compiler imports each type by the shortest path. In the first project, that path is
 * `accountlink` even for types of core. But users of core may not have installed `accountlink`.
 */
const projects = ["tsconfig.build.above.json", "tsconfig.build.json"];

const kept = join(root, "node_modules/.cache/compiled");

/**
 * Compiles all packages: modules, declarations and their maps. Fails on a type error.
 *
 * @returns the cached folder, which callers must not change, with a folder for each package
 */
export const compile = async (): Promise<string> => {
  writeTypes();
  const name = fingerprint();
  const folder = join(kept, name);
  mkdirSync(kept, { recursive: true });
  while (isCompiling(name)) await setTimeout(200);
  if (existsSync(folder)) return folder;
  const output = join(kept, `${unfinished}${name}-${process.pid}`);
  mkdirSync(output);
  try {
    for (const project of projects) await runCompiler(project, output);
    if (join(kept, fingerprint()) !== folder)
      throw new Error("Cannot compile the packages: a source changed meanwhile");
    const others = readdirSync(kept).filter((other) => !other.startsWith(unfinished) && other !== name);
    for (const other of others) rmSync(join(kept, other), { recursive: true, force: true });
    moveUnlessThere(output, folder);
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
  return folder;
};

const unfinished = "unfinished-";

/**
 * Whether a running process is compiling these sources. The unfinished folder alone does not prove that, because a
 * killed process leaves its folder behind.
 */
const isCompiling = (name: string): boolean =>
  readdirSync(kept)
    .filter((folder) => folder.startsWith(`${unfinished}${name}-`))
    .some((folder) => isRunning(Number(folder.split("-").at(-1))));

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const moveUnlessThere = (from: string, to: string): void => {
  try {
    renameSync(from, to);
  } catch (error) {
    // If the folder exists, another process was faster, which is no error.
    if (!existsSync(to)) throw error;
  }
};

const runCompiler = async (project: string, output: string): Promise<void> => {
  const args = ["node_modules/typescript/bin/tsc", "-p", project, "--singleThreaded", "--outDir", output];
  await promisify(execFile)(process.execPath, args, { cwd: root }).catch((cause: { stdout: string }) => {
    throw new Error(`Cannot compile the packages:\n${cause.stdout}`, { cause });
  });
};

/** Returns a hash of everything that the compiler reads, and of this file, which calls the compiler. */
const fingerprint = (): string => {
  const exclude = ["**/node_modules", "packages/*/dist", "**/*_test.ts", "**/test_*.ts"];
  const sources = globSync("packages/**/*.{ts,js,json}", { cwd: root, exclude });
  const settings = globSync(["tsconfig*.json", "pnpm-lock.yaml", "tools/compile.ts"], { cwd: root });
  const files = [...sources, ...settings].toSorted();
  const hash = createHash("sha256");
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  return hash.digest("hex").slice(0, 32);
};
