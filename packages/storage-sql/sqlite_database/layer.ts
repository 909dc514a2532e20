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
    Effect.catchTags({
      SqlError: (error) => Effect.fail(unusable(error)),
      MigrationError: (error) => Effect.fail(unusable(error)),
    }),
  );
  return context;
});
