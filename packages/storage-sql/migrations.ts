/**
 * The schema, as the steps that led to it. A step that has been released is never edited: what comes later is a new one.
 *
 * On Postgres the nodes of the release before go on while a step is taken, and after it. So a step only adds: a table,
 * an index, a column that may be left out. What nobody uses any more goes in a step of the release after. A step waits a
 * second for a lock at most, then the start of its node fails.
 */
import { Data, Effect } from "effect";
import { Migrator, SqlClient, type SqlError } from "effect/sql";
import { dialectOf } from "./internal/dialect.ts";
import { initial } from "./migrations/0001_initial.ts";
import { countingKeys } from "./migrations/0002_counting_keys.ts";
import { countLedger } from "./migrations/0003_count_ledger.ts";
import { verification } from "./migrations/0004_verification.ts";
import { cacheClosures } from "./migrations/0005_cache_closures.ts";
import { sightingRetention } from "./migrations/0006_sighting_retention.ts";
import { rootKey } from "./migrations/0007_root_key.ts";
import { signIns } from "./migrations/0008_sign_ins.ts";
import { retention } from "./migrations/0009_retention.ts";
import { dayCounts } from "./migrations/0010_day_counts.ts";

/** Every step, by `<number>_<name>`. */
export const migrations: Readonly<
  Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>>
> = {
  "0001_initial": initial,
  "0002_counting_keys": countingKeys,
  "0003_count_ledger": countLedger,
  "0004_verification": verification,
  "0005_cache_closures": cacheClosures,
  "0006_sighting_retention": sightingRetention,
  "0007_root_key": rootKey,
  "0008_sign_ins": signIns,
  "0009_retention": retention,
  "0010_day_counts": dayCounts,
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
  return yield* dialectOf(sql).exclusively(
    Effect.gen(function* () {
      const applied = yield* runSteps(migrations);
      // A database that is ahead has nothing to be run on it, so looking afterwards is soon enough, and free of races.
      const version = yield* lastStep;
      if (version > newestStep) return yield* new DatabaseTooNew({ version, known: newestStep });
      return applied;
    }),
  );
});

/** The number of the last step that a database with steps has been through. */
export const lastStep: Effect.Effect<number, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient;
    const [last] = yield* sql<{
      readonly version: number | null;
    }>`SELECT MAX(migration_id) AS version FROM ${sql(table)}`;
    return last?.version ?? 0;
  },
);

/** Runs those of the steps that come after the last one that the database has been through. */
export const runSteps = (
  steps: typeof migrations,
): Effect.Effect<ReadonlyArray<string>, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.map(Migrator.make({})({ loader: Migrator.fromRecord(steps), table }), (applied) =>
    applied.map(([, name]) => name),
  );

const table = "schema_migrations";

/** The number of the last step that this release knows. */
export const newestStep: number = Math.max(...Object.keys(migrations).map((key) => Number.parseInt(key, 10)));
