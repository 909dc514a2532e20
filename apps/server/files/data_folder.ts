import { existsSync, statSync } from "node:fs";
import { access, constants, mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { reasonOf } from "@accountlink/core/errors";
import { StorageSql } from "@accountlink/sql";
import { Effect } from "effect";
import { type Config, InvalidConfig } from "../config/config.ts";

/** Creates the folder unless it exists, accessible only to its owner. Fails if the folder cannot be used. */
export const prepareFolder = (
  config: Config,
  folder: string,
  unusable = unusableFolder(config),
): Effect.Effect<void, InvalidConfig> =>
  Effect.tryPromise({
    try: async () => {
      await make(folder);
      await checkAccess(folder);
    },
    catch: unusable,
  });

/** Whether the folder exists. Fails if this user cannot use it, or cannot find out whether it exists. */
export const folderExists = (config: Config, folder: string): Effect.Effect<boolean, InvalidConfig> =>
  Effect.tryPromise({
    try: () => checkAccess(folder).then(() => true, falseIfMissing),
    catch: unusableFolder(config),
  });

// Checks the files too: those that root made may belong to root.
const checkAccess = async (folder: string): Promise<void> => {
  if (!(await stat(folder)).isDirectory()) throw new Error("it is not a folder");
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  for (const file of StorageSql.filesOf(folder)) {
    await access(file, constants.R_OK | constants.W_OK).catch(falseIfMissing);
  }
};

/** Why a file or folder is a risk: other users of the machine may use it. Null if they may not. */
export const openToOthers = (path: string): string | null => {
  const mode = statSync(path).mode & 0o777;
  return (mode & 0o077) === 0 ? null : `"${path}" is open to others (mode ${mode.toString(8)})`;
};

const falseIfMissing = (error: NodeJS.ErrnoException): false => {
  if (error.code !== "ENOENT") throw error;
  return false;
};

export const unusableFolder =
  ({ ACCOUNTLINK_DATA_DIR }: Config, named = `ACCOUNTLINK_DATA_DIR is "${ACCOUNTLINK_DATA_DIR}"`) =>
  (cause: unknown): InvalidConfig =>
    new InvalidConfig({
      problem: `${named}, expected a folder that can be made and written to (${reasonOf(cause)})`,
    });

// Creates one folder at a time, since Node's recursive mkdir never returns if nothing can be created, as in /proc.
const make = async (folder: string): Promise<void> => {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) await make(dirname(folder));
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
};
