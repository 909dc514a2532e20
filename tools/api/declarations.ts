/** The declarations of the published packages, as their users' compilers read them. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { compile } from "../compile.ts";
import { root } from "../publishable.ts";

/**
 * Compiles them into a temporary folder, with a folder for each package, for as long as it is used.
 *
 * @param options of the compiler. `--noCheck` halves the time: types are inferred where a declaration needs them
 */
export const withDeclarations = async <A>(
  use: (folder: string) => A,
  ...options: ReadonlyArray<string>
): Promise<A> => {
  const folder = mkdtempSync(join(root, "node_modules/.declarations-"));
  try {
    const emit = ["--emitDeclarationOnly", "--declarationMap", "false", "--sourceMap", "false"];
    await compile(folder, [...emit, ...options]);
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
};
