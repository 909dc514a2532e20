import type { StoragePorts } from "@accountlink/core";
import { Effect, Layer } from "effect";
import { DatabaseUnusable } from "../database_unusable.ts";
import { type DatabaseTooNew, migrate } from "../migrations.ts";
import { layer } from "../stores.ts";
import { makeSqlClient } from "./sql_client.ts";
import type { SqliteDatabase } from "./sqlite_database.ts";

/**
 * Every storage port, on a SQLite database behind any client. Migrates the schema first.
 *
 * @param name what errors call the database, such as its path; without credentials
 * @param open opens the database; called once for each build of the layer, whose end closes it
 *
 * @example
 * ```ts
 * import { DatabaseSync } from "node:sqlite";
 * import { ChatId, LinkStore, Pid } from "@accountlink/core";
 * import type { ExecuteSqlite } from "@accountlink/storage-sql/sqlite_database";
 * import { Effect, Option } from "effect";
 *
 * const open = async () => {
 *   const database = new DatabaseSync(":memory:");
 *   const execute: ExecuteSqlite = async (sql, params) => {
 *     const statement = database.prepare(sql);
 *     const values = params.map((value) => (typeof value === "boolean" ? Number(value) : value));
 *     if (statement.columns().length > 0) return { rows: statement.all(...values), changes: 0 };
 *     return { rows: [], changes: Number(statement.run(...values).changes) };
 *   };
 *   const run = async (sql: string) => void (await execute(sql, []));
 *   const begin = async () => {
 *     await run("BEGIN IMMEDIATE");
 *     const rollback = async () => (database.isTransaction ? run("ROLLBACK") : undefined);
 *     return { execute, commit: () => run("COMMIT"), rollback };
 *   };
 *   return { execute, begin, close: async () => database.close() };
 * };
 *
 * const findLink = Effect.flatMap(LinkStore, (links) =>
 *   links.findByChatId(Pid.make("pid_0000000000000001"), ChatId.make("100001")),
 * );
 * const stores = layerSqliteDatabase("in memory", open);
 * await Effect.runPromise(Effect.provide(findLink, stores)); // Option.none()
 * ```
 */
export const layerSqliteDatabase = (
  name: string,
  open: () => Promise<SqliteDatabase>,
): Layer.Layer<StoragePorts, DatabaseUnusable | DatabaseTooNew> =>
  Layer.provide(layer, Layer.effectContext(opened(name, open)));

const opened = Effect.fnUntraced(function* (name: string, open: () => Promise<SqliteDatabase>) {
  const unusable = (cause: unknown) => new DatabaseUnusable({ path: name, cause });
  const db = yield* Effect.acquireRelease(Effect.tryPromise({ try: open, catch: unusable }), (opening) =>
    Effect.ignore(Effect.tryPromise(async () => opening.close?.())),
  );
  const context = yield* makeSqlClient(db);
  yield* Effect.provideContext(migrate, context).pipe(
    Effect.catchTag(["SqlError", "MigrationError"], (error) => Effect.fail(unusable(error))),
  );
  return context;
});
