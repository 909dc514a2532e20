import { existsSync } from "node:fs";
import { join } from "node:path";

/** @internal */
export const databaseFile = (folder: string): string => join(folder, "accountlink.db");

/** Whether a data folder has a database file, valid or not. @internal */
export const hasDatabase = (folder: string): boolean => existsSync(databaseFile(folder));
