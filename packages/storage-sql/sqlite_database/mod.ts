/**
 * The storage ports on a SQLite database behind any client, such as libSQL. Imports nothing of Node.
 */
export * from "./layer.ts";
export * from "./sqlite_database.ts";
