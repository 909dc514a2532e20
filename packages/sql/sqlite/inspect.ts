/** Reads the state of a data folder, without opening its stores. */
import { DatabaseSync } from "node:sqlite";
import { Effect } from "effect";
import { DatabaseUnusable } from "../database_unusable.ts";
import { newestMigration } from "../migrations.ts";
import { countingWebhooks, type WebhookCounts, webhookCounts } from "../webhooks/webhook_counts.ts";
import { withoutDisguise } from "./client/sql_error.ts";
import { databaseFile, hasDatabase } from "./data_folder.ts";
import { probeProcessLock } from "./process_lock.ts";

export interface EmbeddedState {
  /** Path of the database file. */
  readonly path: string;
  /** The number of the last migration that ran, and of the last one in this release. */
  readonly schema: { readonly version: number; readonly newest: number };
  /** The wrapped root key; null when there is none yet. */
  readonly rootKey: string | null;
  /** When the oldest event of the feeds happened; null without events. */
  readonly oldestEvent: number | null;
  readonly webhooks: WebhookCounts;
  /** Damage of the file, as SQLite reports it; at most ten findings. */
  readonly damage: ReadonlyArray<string>;
  /** The server that has the folder; its process ID is null if uncertain. */
  readonly server: { readonly pid: number | null } | null;
}

/**
 * Checks the whole database without changing it, also beside a running server. Returns null if the
 * folder has none, and fails with `DatabaseUnusable` if it cannot be read.
 *
 * @example
 * ```ts
 * import { writeFile } from "node:fs/promises";
 * import { StorageSql } from "@accountlink/sql";
 * import { Effect } from "effect";
 *
 * const folder = "inspected-data";
 * StorageSql.hasDatabase(folder); // false
 * await Effect.runPromise(StorageSql.migrateEmbedded({ folder }));
 * const state = await Effect.runPromise(StorageSql.inspectEmbedded(folder));
 * [state?.damage, state?.server]; // [[], null]
 *
 * await writeFile(StorageSql.databaseFile(folder), "no database");
 * const damaged = await Effect.runPromise(Effect.flip(StorageSql.inspectEmbedded(folder)));
 * damaged instanceof StorageSql.DatabaseUnusable; // true
 * ```
 */
export const inspectEmbedded = (folder: string): Effect.Effect<EmbeddedState | null, DatabaseUnusable> =>
  Effect.gen(function* () {
    if (!hasDatabase(folder)) return null;
    const path = databaseFile(folder);
    const file = yield* Effect.try({
      try: () => readFile(path),
      catch: (cause) => new DatabaseUnusable({ path, cause: withoutDisguise(cause) }),
    });
    return { path, ...file, server: yield* runningServer(folder) };
  });

const readFile = (path: string): Omit<EmbeddedState, "path" | "server"> => {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    const findings = database.prepare("PRAGMA integrity_check(10)").all();
    const messages = findings.map((row) => String(row["integrity_check"]));
    return {
      schema: { version: versionOf(database), newest: newestMigration },
      rootKey: rootKeyOf(database),
      oldestEvent: oldestEventOf(database),
      webhooks: webhookCounts(
        hasTable(database, "webhooks") ? database.prepare(countingWebhooks).get() : undefined,
      ),
      damage: messages.filter((message) => message !== "ok"),
    };
  } finally {
    database.close();
  }
};

const hasTable = (database: DatabaseSync, name: string): boolean =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").all(name).length > 0;

const rootKeyOf = (database: DatabaseSync): string | null => {
  if (!hasTable(database, "root_key")) return null;
  const row = database.prepare("SELECT wrapped FROM root_key").get();
  return row === undefined ? null : String(row["wrapped"]);
};

const oldestEventOf = (database: DatabaseSync): number | null => {
  if (!hasTable(database, "events")) return null;
  const row = database.prepare("SELECT at FROM events ORDER BY sequence LIMIT 1").get();
  return row === undefined ? null : Number(row["at"]);
};

const versionOf = (database: DatabaseSync): number => {
  if (!hasTable(database, "schema_migrations")) return 0;
  return Number(
    database.prepare("SELECT MAX(migration_id) AS version FROM schema_migrations").get()?.["version"],
  );
};

const runningServer = (folder: string): Effect.Effect<EmbeddedState["server"]> =>
  probeProcessLock(folder).pipe(
    Effect.as(null),
    Effect.catchTags({
      DataFolderInUse: ({ pid }) => Effect.succeed({ pid }),
      SqlError: () => Effect.succeed(null),
    }),
  );
