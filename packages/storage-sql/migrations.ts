/**
 * The schema as a list of migrations. A released migration is never edited; changes are new ones.
 *
 * On Postgres, nodes of the previous release keep running during and after a migration. So a
 * migration only adds tables, indexes and optional columns; unused ones are dropped in the next
 * release. It waits at most a second for a lock, then its node fails to start.
 *
 * Unused in this release, for the next one to drop: `cache_closures`, `node_counts` and
 * `sign_in_challenges`.
 */
import { Data, Effect } from "effect";
import { Migrator, SqlClient, type SqlError } from "effect/sql";
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
import { alts } from "./migrations/0011_alts.ts";
import { access } from "./migrations/0012_access.ts";
import { usage } from "./migrations/0013_usage.ts";
import { dashboard } from "./migrations/0014_dashboard.ts";
import { idempotency } from "./migrations/0015_idempotency.ts";
import { erasedRequests } from "./migrations/0016_erased_requests.ts";
import { dialectOf } from "./statements/dialect.ts";

/** By `<number>_<name>`. */
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
  "0011_alts": alts,
  "0012_access": access,
  "0013_usage": usage,
  "0014_dashboard": dashboard,
  "0015_idempotency": idempotency,
  "0016_erased_requests": erasedRequests,
};

/** A newer release has migrated the database. It was not changed. */
export class DatabaseTooNew extends Data.TaggedError("DatabaseTooNew")<{
  /** The last migration of the database. */
  readonly version: number;
  /** The last migration of this release. */
  readonly known: number;
}> {
  override readonly message =
    `Cannot use the database: its schema is version ${this.version}, expected ${this.known} or lower`;
}

/**
 * Runs the pending migrations, all or none, and returns their names. If several processes start
 * together, one runs them while the others wait for its lock.
 */
export const migrate: Effect.Effect<
  ReadonlyArray<string>,
  DatabaseTooNew | Migrator.MigrationError | SqlError.SqlError,
  SqlClient.SqlClient
> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  return yield* dialectOf(sql).withMigrationLock(
    Effect.gen(function* () {
      const applied = yield* runMigrations(migrations);
      // A newer database has no pending migrations, so a check afterwards suffices, within the
      // lock.
      const version = yield* lastMigration;
      if (version > newestMigration) return yield* new DatabaseTooNew({ version, known: newestMigration });
      return applied;
    }),
  );
});

/** The number of the last migration that ran. */
export const lastMigration: Effect.Effect<number, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient;
    const [last] = yield* sql<{
      readonly version: number | null;
    }>`SELECT MAX(migration_id) AS version FROM ${sql(table)}`;
    return last?.version ?? 0;
  },
);

/** Runs those of the migrations that are pending. */
export const runMigrations = (
  all: typeof migrations,
): Effect.Effect<ReadonlyArray<string>, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.map(Migrator.make({})({ loader: Migrator.fromRecord(all), table }), (applied) =>
    applied.map(([, name]) => name),
  );

const table = "schema_migrations";

/** The number of the last migration of this release. */
export const newestMigration: number = Math.max(
  ...Object.keys(migrations).map((key) => Number.parseInt(key, 10)),
);
