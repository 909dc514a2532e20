/** Where things are in a data folder. */
import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * The path of the database in a data folder.
 *
 * @param folder path of the data folder
 */
export const databaseFile = (folder: string): string => join(folder, "accountlink.db");

/**
 * Whether a data folder holds a database, whatever its state.
 *
 * @param folder path of the data folder
 */
export const hasDatabase = (folder: string): boolean => existsSync(databaseFile(folder));
