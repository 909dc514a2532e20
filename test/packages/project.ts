/**
 * Makes projects as users do: folders outside of the workspace, into which npm installs the packed packages.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isProof } from "@accountlink/test-servers";
import { root } from "../../tools/publishable.ts";

export type Command = readonly [string, ...ReadonlyArray<string>];

/** Tarball paths by package name. */
export type Tarballs = ReadonlyMap<string, string>;

export interface ProjectManifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** Installs the dependencies of a manifest. Packages of this repository come from the tarballs. */
export const install = async (
  folder: string,
  manifest: ProjectManifest,
  tarballs: Tarballs,
): Promise<void> => {
  const overrides = Object.fromEntries([...tarballs].map(([name, path]) => [name, `file:${path}`]));
  const dependencies = Object.fromEntries(
    Object.entries(manifest.dependencies ?? {}).map(([name, version]) => [name, overrides[name] ?? version]),
  );
  const written = JSON.stringify({ type: "module", ...manifest, dependencies, overrides });
  await writeFile(join(folder, "package.json"), written);
  await run(folder, ["npm", "install", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"]);
};

/** Compiler options for module resolution as in Node and as in bundlers. */
const resolutions = {
  nodenext: { module: "nodenext", moduleResolution: "nodenext" },
  ...(isProof && {
    node16: { module: "node16", moduleResolution: "node16" },
    bundler: { module: "esnext", moduleResolution: "bundler" },
  }),
};

interface Compilation {
  /** Whether to compile each module into a JavaScript file next to it, for runtimes that cannot strip types. */
  readonly emit?: boolean;
  /** The compiler option `types`: packages whose global types the modules use, such as "node". */
  readonly types?: ReadonlyArray<string>;
  /** The folder of the package `typescript` to compile with. By default, it is the one in this repository. */
  readonly compiler?: string;
}

/**
 * Type-checks a project strictly, with the declarations of its packages. A `tsconfig.json` of the project adds
 * options, and the proof type-checks it alone too. Returns the compiler's output, which is empty without errors.
 */
export const compile = async (
  folder: string,
  { emit = false, types, compiler = join(root, "node_modules/typescript") }: Compilation = {},
): Promise<string> => {
  const own = existsSync(join(folder, "tsconfig.json"))
    ? { extends: "./tsconfig.json" }
    : { include: ["*.ts"] };
  const tsc = (file: string) =>
    run(folder, [process.execPath, join(compiler, "bin/tsc"), "-p", file]).catch(String);
  let found = isProof && "extends" in own ? await tsc("tsconfig.json") : "";
  for (const [name, resolution] of Object.entries(resolutions)) {
    const noEmit = !emit || name !== "nodenext";
    const strict = {
      target: "es2022",
      strict: true,
      skipLibCheck: false,
      rewriteRelativeImportExtensions: true,
      noEmit,
    };
    const compilerOptions = { ...strict, ...resolution, ...(types === undefined ? {} : { types }) };
    const file = join(folder, `tsconfig.${name}.json`);
    await writeFile(file, JSON.stringify({ ...own, compilerOptions }));
    found += await tsc(file);
  }
  return found;
};

/** Runs a program in a folder and returns its output. If it fails, throws an error with the output. */
export const run = (folder: string, [program, ...args]: Command): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(program, args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 }, (failed, stdout, stderr) => {
      if (failed === null) resolve(stdout);
      else reject(new Error(`Cannot run ${program} ${args.join(" ")}:\n${stdout}${stderr}`));
    });
  });
