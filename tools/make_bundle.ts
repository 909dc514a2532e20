/**
 * Bundles a program of the server, which then starts in a third of the time and takes half of the memory. Rolldown keeps
 * constants: with the variables that esbuild makes of them, a lookup took an eighth longer.
 */
import { readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { rolldown } from "rolldown";

const root = join(import.meta.dirname, "..");

/**
 * Returns the path, the size and the modification time of each source file. When the server starts,
 * `any_node/bundle.mjs` compares them with the files on disk.
 */
const sourcesOf = (inputs: ReadonlyArray<string>) =>
  Promise.all(
    ["pnpm-lock.yaml", ...inputs.filter((path) => !path.includes("node_modules/"))].map(async (path) => {
      const { size, mtimeMs } = await stat(join(root, path));
      return [path, size, Math.floor(mtimeMs / 1_000)] as const;
    }),
  );

/**
 * @param program the path of the program in the repository
 * @param folder the folder of the bundle. It is as deep in the repository as the folders of the sources, so that relative
 * paths in the bundle still resolve
 * @param isAlone whether the bundle also runs where there are no sources
 * @returns the path of the file to run
 */
export const bundle = async (program: string, folder: string, isAlone = false): Promise<string> => {
  const build = await rolldown({
    cwd: root,
    input: program,
    platform: "node",
    // It would warn of optional packages that are not installed.
    logLevel: "silent",
  });
  const { output } = await build.write({
    dir: folder,
    entryFileNames: "[name]-[hash].js",
    chunkFileNames: "[name]-[hash].js",
    comments: { legal: false },
  });
  const files = output.map(({ fileName }) => fileName);
  const entry = output.find((file) => file.type === "chunk" && file.isEntry)?.fileName ?? "";
  const inputs = (await build.watchFiles).map((path) => relative(root, path));
  await build.close();
  const manifest = join(folder, "bundle.json");
  await writeFile(
    `${manifest}.new`,
    JSON.stringify({ entry, sources: isAlone ? [] : await sourcesOf(inputs) }),
  );
  await rename(`${manifest}.new`, manifest);
  const kept = new Set([...files, "bundle.json"]);
  for (const file of await readdir(folder))
    if (!kept.has(file)) await rm(join(folder, file), { force: true });
  return join(folder, entry);
};

/** Bundles the program that tests start as a process. A bundler may leave out more than it may, so tests run its output. */
export const bundleServerOfTests = (): Promise<string> =>
  bundle(
    "apps/server/commands/test_controlled_process.ts",
    join(root, "node_modules/.cache/server_of_tests"),
    true,
  );
