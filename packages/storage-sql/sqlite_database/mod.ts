/**
 * The storage ports on a SQLite database behind any client, such as libSQL, D1's relatives or a driver of an operating
 * system. Imports nothing of Node.
 */
export * from "./layer.ts";
export * from "./sqlite_database.ts";
