import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { access, constants, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

export interface ServerProgram {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface DebianServer {
  /** The names of suitable programs, best first. */
  readonly names: ReadonlyArray<string>;
  readonly path: string;
  /** The server's package and packages of libraries that a minimal Debian lacks. */
  readonly packages: ReadonlyArray<string>;
}

const run = promisify(execFile);

const cache = join(import.meta.dirname, "node_modules/.cache");

const isExecutable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );

/**
 * Returns a function that finds an installed server. Without one, on Debian, it unpacks the server's package into a cache
 * folder without installing it. It returns null if neither is possible. It searches at the first call only, since most
 * test processes need few servers.
 */
export const serverFinder = (server: DebianServer): (() => Promise<ServerProgram | null>) =>
  once(async () => (await installed(server)) ?? (await unpacked(server)));

/** Returns a function that calls `find` at its first call only. */
export const once = <A>(find: () => Promise<A>): (() => Promise<A>) => {
  let found: Promise<A> | undefined;
  return () => (found ??= find());
};

const installed = async ({ names }: DebianServer): Promise<ServerProgram | null> => {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  for (const name of names) {
    for (const folder of folders) {
      const file = join(folder, name);
      if (await isExecutable(file)) return { file, env: {} };
    }
  }
  return null;
};

/** Unpacks the Debian package of a server, even if the server is installed. */
export const unpacked = async ({
  path,
  packages,
}: Pick<DebianServer, "path" | "packages">): Promise<ServerProgram | null> => {
  const root = join(cache, packages[0] ?? "");
  const file = join(root, path);
  if (!existsSync(file)) {
    fetching = fetching.then(() => fetchInto(root, packages));
    await fetching;
  }
  if (!existsSync(file)) return null;
  const machine = process.arch === "arm64" ? "aarch64" : "x86_64";
  return { file, env: { LD_LIBRARY_PATH: join(root, "usr/lib", `${machine}-linux-gnu`) } };
};

/** Packages are fetched one after the other, so that apt reads its lists once. Without its cache, it reads them each time. */
let fetching: Promise<void> = Promise.resolve();
const ofApt = ["-o", `Dir::Cache::pkgcache=${cache}/pkgcache.bin`];

/**
 * Several test processes may fetch the packages at the same time. All use the files of the first process that finishes.
 */
const fetchInto = async (root: string, packages: ReadonlyArray<string>): Promise<void> => {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "fetching-"));
  const unpackedTo = join(folder, "root");
  try {
    await run("apt-get", [...ofApt, "download", ...packages], { cwd: folder, timeout: 300_000 });
    await run("sh", ["-c", `for package in *.deb; do dpkg -x "$package" root || exit; done`], {
      cwd: folder,
    });
    await rename(unpackedTo, root);
  } catch {
    // Ignore the error, because the caller checks whether the files exist. Possible causes: this is not Debian, there
    // is no network, or another process has already unpacked the same packages.
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
