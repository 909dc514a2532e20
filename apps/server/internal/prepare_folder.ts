/**
 * The data folder, there and usable before anything is put into it.
 */
import { existsSync } from "node:fs";
import { access, constants, mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Effect } from "effect";
import { type Config, InvalidConfig } from "../config.ts";
import { reasonOf } from "./report.ts";

/** Makes the folder, with access for its owner only, unless it is there. Refuses one that cannot be used. */
export const prepareFolder = (config: Config, folder: string): Effect.Effect<void, InvalidConfig> =>
  Effect.tryPromise({
    try: async () => {
      await make(folder);
      if (!(await stat(folder)).isDirectory()) throw new Error("it is not a folder");
      await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    },
    catch: (cause) => unusableFolder(config, cause),
  });

/** The refusal of a data folder that does not work. */
export const unusableFolder = ({ ACCOUNTLINK_DATA_DIR }: Config, cause: unknown): InvalidConfig =>
  new InvalidConfig({
    problem: `ACCOUNTLINK_DATA_DIR is "${ACCOUNTLINK_DATA_DIR}", expected a folder that can be made and written to (${reasonOf(cause)})`,
  });

// Step by step, since Node tries for ever to make all at once where the system makes nothing, as in /proc.
const make = async (folder: string): Promise<void> => {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) await make(dirname(folder));
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
};
