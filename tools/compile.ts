/** The compiler of the published packages. It keeps what it made of the sources as they are. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { root } from "./publishable.ts";

/**
 * Those above the umbrella first, with all that they import; then the others again, without it. In
 * declarations the compiler names a type by the shortest way to it, which beside the umbrella is
 * `accountlink` also for types of core, whose users need not have it.
 */
const projects = ["tsconfig.build.above.json", "tsconfig.build.json"];

const kept = join(root, "node_modules/.cache/compiled");

/**
 * Compiles all of them: modules, declarations and their maps. Fails if there is a type error.
 *
 * @returns the folder with a folder for each package, for reading only
 */
export const compile = async (): Promise<string> => {
  const folder = join(kept, fingerprint());
  if (existsSync(folder)) return folder;
  mkdirSync(kept, { recursive: true });
  const output = mkdtempSync(join(kept, unfinished));
  try {
    for (const project of projects) await runCompiler(project, output);
    if (join(kept, fingerprint()) !== folder)
      throw new Error("Cannot compile the packages: a source changed meanwhile");
    const others = readdirSync(kept).filter(
      (name) => !name.startsWith(unfinished) && name !== basename(folder),
    );
    for (const name of others) rmSync(join(kept, name), { recursive: true, force: true });
    moveUnlessThere(output, folder);
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
  return folder;
};

const unfinished = "unfinished-";

const moveUnlessThere = (from: string, to: string): void => {
  try {
    renameSync(from, to);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(to)) throw error;
  }
};

const runCompiler = async (project: string, output: string): Promise<void> => {
  const args = ["node_modules/typescript/bin/tsc", "-p", project, "--singleThreaded", "--outDir", output];
  await promisify(execFile)(process.execPath, args, { cwd: root }).catch((cause: { stdout: string }) => {
    throw new Error(`Cannot compile the packages:\n${cause.stdout}`, { cause });
  });
};

/** Of all that the compiler reads, and of this file, which calls it. */
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

if (import.meta.main) await compile();
