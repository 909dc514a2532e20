/**
 * The schema, as the steps that led to it. A step that has been released is never edited: what comes later is a new one.
 */
import { Data, Effect } from "effect";
import { Migrator, SqlClient, type SqlError } from "effect/sql";
import { initial } from "./migrations/0001_initial.ts";

/** Every step, by `<number>_<name>`. */
export const migrations: Readonly<
  Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>>
> = {
  "0001_initial": initial,
};

/** A newer release has migrated the database. Nothing was changed. */
export class DatabaseTooNew extends Data.TaggedError("DatabaseTooNew")<{
  /** The number of the last step that the database has been through. */
  readonly version: number;
  /** The number of the last step that this release knows. */
  readonly known: number;
}> {
  override readonly message =
    `Cannot use the database: its schema is version ${this.version}, expected ${this.known} or lower`;
}

/**
 * Runs the steps that the database has not been through, all or none, and gives their names. Of several processes that
 * start at once one runs them, while the others wait at its lock.
 */
export const migrate: Effect.Effect<
  ReadonlyArray<string>,
  DatabaseTooNew | Migrator.MigrationError | SqlError.SqlError,
  SqlClient.SqlClient
> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const applied = yield* runSteps(migrations);

  // A database that is ahead has nothing to be run on it, so looking afterwards is soon enough, and free of races.
  const [last] = yield* sql<{
    readonly version: number;
  }>`SELECT MAX(migration_id) AS version FROM ${sql(table)}`;
  const version = last?.version ?? 0;
  if (version > newest) return yield* new DatabaseTooNew({ version, known: newest });
  return applied;
});

/** Runs those of the steps that come after the last one that the database has been through. */
export const runSteps = (
  steps: typeof migrations,
): Effect.Effect<ReadonlyArray<string>, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.map(Migrator.make({})({ loader: Migrator.fromRecord(steps), table }), (applied) =>
    applied.map(([, name]) => name),
  );

const table = "schema_migrations";

const newest = Math.max(...Object.keys(migrations).map((key) => Number.parseInt(key, 10)));
