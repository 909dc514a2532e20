/** A small disk of its own, to be filled. */
import { execFile } from "node:child_process";
import { appendFile, mkdtemp, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Effect } from "effect";
import { skipReason } from "./internal/skip_reason.ts";

const run = promisify(execFile);

/** A file system with little room. */
export interface SmallDisk {
  readonly folder: string;
  /** Takes all the room that is left. */
  readonly fill: Effect.Effect<void>;
  /** Gives it back. */
  readonly free: Effect.Effect<void>;
}

/**
 * Why no disk can be had here, or null when one can: for the title of a skip.
 *
 * @throws Error in place of a reason when CI=true, where nothing is skipped
 */
export const whyNoSmallDisk = async (): Promise<string | null> => {
  try {
    await Effect.runPromise(Effect.scoped(mountSmallDisk(1)));
    return null;
  } catch {
    return skipReason("a small disk", "this process may not mount a file system of its own");
  }
};

/** Mounts one in memory. It is gone with the scope. */
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
    // Everybody may write to it, as to the folder for temporary files.
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

/** Whether there was room for it. */
const append = async (file: string, size: number): Promise<boolean> => {
  try {
    await appendFile(file, Buffer.alloc(size));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") return false;
    throw error;
  }
};
