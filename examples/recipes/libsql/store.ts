/** Storage on libSQL: a file, a server, or Turso, with its client. */
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  layerSqliteDatabase,
  type SqliteDatabase,
  type SqliteResult,
} from "@accountlink/storage-sql/sqlite_database";
import { createClient, type ResultSet } from "@libsql/client";

const resultOf = ({ columns, rows, rowsAffected }: ResultSet): SqliteResult => ({
  rows: rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]]))),
  changes: rowsAffected,
});

const open = async (url: string): Promise<SqliteDatabase> => {
  const client = createClient({ url });
  // A commit is one write to the disk then, not four.
  if (url.startsWith("file:")) await client.execute("PRAGMA journal_mode = WAL");
  return {
    execute: async (sql, params) => resultOf(await client.execute({ sql, args: [...params] })),
    begin: async () => {
      const transaction = await client.transaction("write");
      return {
        execute: async (sql, params) => resultOf(await transaction.execute({ sql, args: [...params] })),
        commit: () => transaction.commit(),
        rollback: async () => transaction.close(),
      };
    },
    close: async () => client.close(),
  };
};

/** @param url such as `file:links.db` or `libsql://…` */
export const layerOn = (url: string) => layerSqliteDatabase(url, () => open(url));

/** For `accountlink-conformance`: a new file each time. */
export const layer = layerSqliteDatabase("a new file", () =>
  open(`file:${join(tmpdir(), `${randomUUID()}.db`)}`),
);
