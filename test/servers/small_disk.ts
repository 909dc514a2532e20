import { execFile } from "node:child_process";
import { appendFile, mkdtemp, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Effect } from "effect";
import { skipReason } from "./skip_reason.ts";

const run = promisify(execFile);

/** A small file system that tests can fill. */
export interface SmallDisk {
  readonly folder: string;
  readonly fill: Effect.Effect<void>;
  readonly free: Effect.Effect<void>;
}

/**
 * Returns null if a small disk can be mounted, else the reason, for titles of skipped tests. With CI=true, throws
 * instead.
 */
export const whyNoSmallDisk = async (): Promise<string | null> => {
  try {
    await Effect.runPromise(Effect.scoped(mountSmallDisk(1)));
    return null;
  } catch {
    return skipReason("a small disk", "this process may not mount file systems");
  }
};

/** Mounts a file system in memory until the scope closes. */
export const mountSmallDisk = Effect.fnUntraced(function* (megabytes: number) {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mount(megabytes)),
    (mounted) => Effect.promise(() => unmount(mounted)),
  );
  const filler = join(folder, "filler");
  const disk: SmallDisk = {
    folder,
    fill: Effect.promise(() => fill(filler)),
    free: Effect.promise(() => rm(filler, { force: true })),
  };
  return disk;
});

const mount = async (megabytes: number): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "accountlink-disk-"));
  try {
    // With mode 1777, every user can write to the disk, as to the system's temporary folder.
    await run("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=1777`, "tmpfs", folder]);
    return folder;
  } catch (error) {
    await rmdir(folder);
    throw error;
  }
};

const unmount = async (folder: string): Promise<void> => {
  await run("umount", [folder]);
  await rmdir(folder);
};

const fill = async (filler: string): Promise<void> => {
  for (const size of [1_048_576, 4_096]) {
    let isRoomLeft = true;
    while (isRoomLeft) isRoomLeft = await append(filler, size);
  }
};

/** Returns whether the disk had room. */
const append = async (file: string, size: number): Promise<boolean> => {
  try {
    await appendFile(file, Buffer.alloc(size));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") return false;
    throw error;
  }
};
