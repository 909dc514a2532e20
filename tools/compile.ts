/** The compiler of the published packages. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { root } from "./publishable.ts";

/**
 * Those above the umbrella first, with all that they import; then the others again, without it. In
 * declarations the compiler names a type by the shortest way to it, which beside the umbrella is
 * `accountlink` also for types of core, whose users need not have it.
 */
const projects = ["tsconfig.build.above.json", "tsconfig.build.json"];

/** Compiles all of them, with a folder for each package. Fails if there is a type error. */
export const compile = async (folder: string, options: ReadonlyArray<string> = []): Promise<void> => {
  for (const project of projects) {
    const args = [
      "node_modules/typescript/bin/tsc",
      "-p",
      project,
      "--singleThreaded",
      ...options,
      "--outDir",
      folder,
    ];
    await promisify(execFile)(process.execPath, args, { cwd: root }).catch((cause: { stdout: string }) => {
      throw new Error(`Cannot compile the packages:\n${cause.stdout}`, { cause });
    });
  }
};
