import { DatabaseSync } from "node:sqlite";
import { storageSuites } from "@accountlink/conformance";
import { StorageMemory } from "@accountlink/storage-memory";
import * as test from "vitest";
import { layerSqliteDatabase } from "./mod.ts";
import type { SqliteDatabase, SqliteValue } from "./sqlite_database.ts";

/** One connection of node:sqlite behind promises, as a client over a network would be. */
const open = async (): Promise<SqliteDatabase> => {
  const db = new DatabaseSync(":memory:", { enableForeignKeyConstraints: true });
  let turn: Promise<unknown> = Promise.resolve();
  const run = async (sql: string, params: ReadonlyArray<SqliteValue>) => {
    await new Promise((resolve) => setImmediate(resolve));
    const statement = db.prepare(sql);
    const values = params.map((value) => (typeof value === "boolean" ? Number(value) : value));
    const rows = statement.all(...values);
    return { rows, changes: Number(db.prepare("SELECT changes() AS changes").get()?.["changes"]) };
  };
  /** After the open transaction, since there is one connection. */
  const begin = () => {
    const ended = Promise.withResolvers<void>();
    const started = turn;
    turn = ended.promise;
    return { started, end: ended.resolve };
  };
  return {
    execute: async (sql, params) => {
      await turn;
      return run(sql, params);
    },
    begin: async () => {
      const { started, end } = begin();
      await started;
      db.exec("BEGIN IMMEDIATE");
      const finish = (statement: string) => async () => {
        db.exec(statement);
        end();
      };
      return { execute: run, commit: finish("COMMIT"), rollback: finish("ROLLBACK") };
    },
    close: async () => db.close(),
  };
};

storageSuites({
  name: "SQLite behind a client",
  layer: layerSqliteDatabase("memory", open),
  model: StorageMemory.layer,
  runs: 5,
  test,
});
