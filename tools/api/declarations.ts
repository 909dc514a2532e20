/** The declarations of the published packages, as their users' compilers read them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "../publishable.ts";

/**
 * Compiles them into a temporary folder, with a folder for each package, for as long as it is used.
 *
 * @param options of the compiler. `--noCheck` halves the time: types are inferred where a declaration needs them
 */
export const withDeclarations = <A>(use: (folder: string) => A, ...options: ReadonlyArray<string>): A => {
  const folder = mkdtempSync(join(root, "node_modules/.declarations-"));
  try {
    const tsc = "node_modules/typescript/bin/tsc";
    const emit = ["--emitDeclarationOnly", "--declarationMap", "false", "--sourceMap", "false"];
    const args = [tsc, "-p", "tsconfig.build.json", ...emit, ...options, "--outDir", folder];
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
    if (status !== 0) throw new Error(`Cannot compile the declarations:\n${stdout}`);
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
};
