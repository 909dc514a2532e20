import { changeSchema } from "./change_schema.ts";

/** Its one row is not copied by a move: a storage that was moved is in its place. */
export const storagePlace = changeSchema(`
  CREATE TABLE IF NOT EXISTS storage_place (
    -- Where the data is. A copy of the data finds itself in another place.
    id INTEGER NOT NULL PRIMARY KEY, place TEXT NOT NULL,
    -- Since when the data acts on nobody, and why; null if it acts.
    rest_since INTEGER, rest_reason TEXT
  )
`);
