/** Loads `node:sqlite` when a database is opened. Node 20 has no such module, so an import would fail without a reason. */
import process from "node:process";

export const nodeSqlite = (): typeof import("node:sqlite") => {
  const found = process.getBuiltinModule("node:sqlite");
  if (found !== undefined) return found;
  throw new Error(`Node.js ${process.versions.node} has no SQLite, expected 22.13 or newer, Deno or Bun`);
};
