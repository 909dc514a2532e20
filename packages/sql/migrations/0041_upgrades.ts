/** Remembers which changes of stored data a release has made in the background. */
import { changeSchema } from "./change_schema.ts";

export const upgrades = changeSchema(
  "CREATE TABLE upgrades (name TEXT NOT NULL PRIMARY KEY, rounds INTEGER NOT NULL, at INTEGER NOT NULL)",
);
