/** Temporary files beside those that they become. A process that is killed leaves its part. */
import { randomUUID } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

const partName = /^\.accountlink-[\da-f-]{36}\.part$/;

/** How long nobody has written to a part when its process was killed, in milliseconds. */
const abandonedAfter = 6 * 3_600_000;

export const newPart = (folder: string): string => join(folder, `.accountlink-${randomUUID()}.part`);

/** Removes parts of processes that were killed. A part of a running process is written all the time. */
export const removeAbandoned = async (folder: string, now: number): Promise<void> => {
  for (const name of await readdir(folder)) {
    if (!partName.test(name)) continue;
    const found = await stat(join(folder, name)).catch(() => null);
    if (found !== null && now - found.mtimeMs > abandonedAfter) await rm(join(folder, name), { force: true });
  }
};
