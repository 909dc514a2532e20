/** For `accountlink-conformance`: a new database each time. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { layerSqliteDatabase } from "@accountlink/storage-sql/sqlite_database";
import { openLibsql } from "./store.ts";

const folder = await mkdtemp(join(tmpdir(), "libsql-"));
let opened = 0;

export const layer = layerSqliteDatabase("a new file", () =>
  openLibsql(`file:${join(folder, `${++opened}.db`)}`),
);
