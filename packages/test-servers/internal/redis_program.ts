import { execFile } from "node:child_process";
import { access, constants, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** How the server is run: its file, and what its environment needs. */
export interface RedisProgram {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

const run = promisify(execFile);

/** The package of the server, and those of its libraries that a small Debian lacks. */
const packages = ["redis-server", "redis-tools", "liblzf1", "libjemalloc2", "libatomic1"];

const cache = join(import.meta.dirname, "../node_modules/.cache");

const isExecutable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );

/**
 * A Redis or Valkey of the machine; else, on Debian, the one that its package holds, unpacked into a folder of ours
 * without installing anything. Null when there is neither.
 */
export const findRedisProgram = async (): Promise<RedisProgram | null> =>
  (await installed()) ?? (await unpacked(join(cache, "redis")));

const installed = async (): Promise<RedisProgram | null> => {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  for (const name of ["redis-server", "valkey-server"]) {
    for (const folder of folders) {
      const file = join(folder, name);
      if (await isExecutable(file)) return { file, env: {} };
    }
  }
  return null;
};

const unpacked = async (root: string): Promise<RedisProgram | null> => {
  const file = join(root, "usr/bin/redis-server");
  if (!(await isExecutable(file)) && !(await fetchInto(root))) return null;
  const machine = process.arch === "arm64" ? "aarch64" : "x86_64";
  return { file, env: { LD_LIBRARY_PATH: join(root, "usr/lib", `${machine}-linux-gnu`) } };
};

/** Whether the packages are there now. Several test processes may fetch at once; the first to be done wins. */
const fetchInto = async (root: string): Promise<boolean> => {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "fetching-"));
  const unpackedTo = join(folder, "root");
  try {
    await run("apt-get", ["download", ...packages], { cwd: folder, timeout: 60_000 });
    await run("sh", ["-c", `for package in *.deb; do dpkg -x "$package" root || exit; done`], {
      cwd: folder,
    });
    await rename(unpackedTo, root);
    return true;
  } catch {
    return isExecutable(join(root, "usr/bin/redis-server"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
