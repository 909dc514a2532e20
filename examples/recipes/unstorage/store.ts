/** Storage on unstorage, in files, for one process. */
import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { StorageKv } from "@accountlink/storage-kv";
import { createStorage, defineDriver } from "unstorage";

/** Opens a file or folder, and flushes it before it is closed. */
const flushed = async (path: string, flags: "r" | "w", write?: (file: FileHandle) => Promise<void>) => {
  const file = await open(path, flags);
  try {
    await write?.(file);
    await file.sync();
  } finally {
    await file.close();
  }
};

const nullIfMissing = (error: NodeJS.ErrnoException) => {
  if (error.code === "ENOENT") return null;
  throw error;
};

/** In the place of the driver "fs", which returns errors as values and overwrites files in place. */
const filesDriver = defineDriver((folder: string) => {
  // Writes come one at a time, so that one name is enough.
  const unfinished = join(folder, ".unfinished");
  const getItem = (name: string) => readFile(join(folder, name), "utf8").catch(nullIfMissing);
  return {
    getItem,
    hasItem: async (name) => (await getItem(name)) !== null,
    setItem: async (name, text) => {
      await flushed(unfinished, "w", (file) => file.writeFile(text));
      await rename(unfinished, join(folder, name));
      await flushed(folder, "r");
    },
    removeItem: async (name) => {
      await rm(join(folder, name), { force: true });
      await flushed(folder, "r");
    },
    getKeys: async () => (await readdir(folder)).filter((name) => !name.startsWith(".")),
  };
});

/** Names of files have at most 255 bytes. The hash of a longer key does, and the file has the key. */
const nameOf = (key: string) =>
  key.length <= 120
    ? Buffer.from(key).toString("hex")
    : `long-${createHash("sha256").update(key).digest("hex")}`;

export const openFiles = async (folder: string) => {
  await mkdir(folder, { recursive: true });
  const files = createStorage<{ key: string; value: string }>({ driver: filesDriver(folder) });

  const keyOf = async (name: string) =>
    name.startsWith("long-") ? (await files.getItem(name))?.key : Buffer.from(name, "hex").toString();

  return StorageKv.singleProcess({
    get: async (key) => (await files.getItem(nameOf(key)))?.value ?? null,
    set: (key, value) => files.setItem(nameOf(key), { key, value }),
    remove: (key) => files.removeItem(nameOf(key)),
    keys: async () => {
      const keys = await Promise.all((await files.getKeys()).map(keyOf));
      return keys.filter((key) => key !== undefined);
    },
    close: () => files.dispose(),
  });
};
