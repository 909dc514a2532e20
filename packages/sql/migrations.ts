/**
 * The schema as a list of migrations. A released migration is never edited; changes are new ones.
 *
 * On Postgres, nodes that do not know a migration keep running during and after it. So a migration only adds tables,
 * indexes and optional columns, drops what no running node uses, and keeps no lookup waiting for more than a second: what
 * takes longer is done before it, as `prepared_statement.ts` builds indexes. A migration that waits for a lock gives way
 * and is tried again for ten minutes.
 */
import { StorageTooNew, schemaAhead } from "@accountlink/core";
import { Data, Effect, Predicate, Schedule } from "effect";
import { Migrator, SqlClient, SqlError } from "effect/sql";
import { initial } from "./migrations/0021_initial.ts";
import { communities } from "./migrations/0022_communities.ts";
import { journal } from "./migrations/0026_journal.ts";
import { answersByUser } from "./migrations/0035_answers_by_user.ts";
import { keyMakers } from "./migrations/0036_key_makers.ts";
import { storagePlace } from "./migrations/0037_storage_place.ts";
import { planStatistics } from "./migrations/0049_plan_statistics.ts";
import { earlierViews } from "./migrations/0052_earlier_views.ts";
import { IsPreparing } from "./migrations/change_schema.ts";
import { schemaChanges } from "./migrations/schema_changes.ts";
import { dialectOf } from "./statements/dialect.ts";

type Steps = Readonly<Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>>>;

/** Each key has the form `<number>_<name>`. */
const allSteps: Steps = {
  ...schemaChanges,
  "0021_initial": initial,
  "0022_communities": communities,
  "0026_journal": journal,
  "0035_answers_by_user": answersByUser,
  "0036_key_makers": keyMakers,
  "0037_storage_place": storagePlace,
  "0049_plan_statistics": planStatistics,
  "0052_earlier_views": earlierViews,
};

/** The steps in order. */
export const migrations: Steps = Object.fromEntries(
  Object.entries(allSteps).toSorted(([one], [other]) => (one < other ? -1 : 1)),
);

/** A newer release has migrated the database. Nothing was changed. */
export class DatabaseTooNew extends Data.TaggedError("DatabaseTooNew")<{
  readonly version: number;
  readonly known: number;
}> {
  readonly code = "DATABASE_TOO_NEW";
  readonly details = { version: this.version, known: this.known };
  override readonly message = `Cannot use the database: ${schemaAhead(this)}`;
}

type Migrate<A> = Effect.Effect<
  A,
  DatabaseTooNew | Migrator.MigrationError | SqlError.SqlError,
  SqlClient.SqlClient
>;

/**
 * Runs the pending migrations, and returns their names. If several processes start together, one of them migrates while
 * the others wait for the lock. Steps of a Postgres with data commit one by one, so that its nodes wait for none of them;
 * the embedded storage, which has one server, takes all or none.
 */
export const migrate: Migrate<ReadonlyArray<string>> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { isRemote, withMigrationLock } = dialectOf(sql);
  const upTo = (newest: number): Migrate<ReadonlyArray<string>> => {
    const steps = Object.entries(migrations).filter(([name]) => numberOf(name) <= newest);
    return withMigrationLock(Effect.andThen(refuseNewer, runMigrations(Object.fromEntries(steps))));
  };
  if (!isRemote) return yield* upTo(newestMigration);
  const version = yield* knownMigration;
  if (version === 0) return yield* givingWay(upTo(newestMigration));
  const applied: Array<string> = [];
  for (const step of Object.keys(migrations)
    .map(numberOf)
    .filter((number) => number > version)) {
    yield* givingWay(prepared(step));
    applied.push(...(yield* givingWay(upTo(step))));
  }
  yield* refuseNewer;
  return applied;
});

/** Steps from this one on are prepared. Those before change tables that later steps made anew. */
const firstPrepared = 27;

const prepared = (step: number): Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.forEach(
    Object.entries(migrations).filter(([name]) => numberOf(name) === step && step >= firstPrepared),
    ([, run]) => Effect.provideService(run, IsPreparing, true),
    { discard: true },
  );

/** A step that gave way to the writes of running nodes is tried again. */
const givingWay = <A, E, R>(step: Effect.Effect<A, E | SqlError.SqlError, R>) =>
  Effect.retry(step, {
    while: (error) => isLockError(error),
    schedule: Schedule.jittered(Schedule.spaced("500 millis")).pipe(
      Schedule.upTo({ duration: "10 minutes" }),
    ),
  });

const isLockError = (error: unknown): boolean => {
  if (!SqlError.isSqlError(error)) return Predicate.hasProperty(error, "cause") && isLockError(error.cause);
  const { _tag } = error.reason;
  return _tag === "LockTimeoutError" || _tag === "DeadlockError";
};

const numberOf = (name: string): number => Number.parseInt(name, 10);

/** A database of a newer release has no pending migrations. */
export const refuseNewer = Effect.gen(function* () {
  const version = yield* knownMigration;
  if (version > newestMigration) return yield* new DatabaseTooNew({ version, known: newestMigration });
});

/** The last migration; 0 for a database without any. */
const knownMigration: Effect.Effect<number, SqlError.SqlError, SqlClient.SqlClient> = Effect.suspend(() =>
  Effect.flatMap(isTableMissing(table), (isMissing) => (isMissing ? Effect.succeed(0) : lastMigration)),
);

export const lastMigration: Effect.Effect<number, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient;
    const [last] = yield* sql<{
      readonly version: number | null;
    }>`SELECT MAX(migration_id) AS version FROM ${sql(table)}`;
    return last?.version ?? 0;
  },
);

/** Why this release must not use the database any longer; null if it may. */
export const schemaFault: Effect.Effect<string | null, SqlError.SqlError, SqlClient.SqlClient> = Effect.map(
  lastMigration,
  (version) =>
    version > newestMigration ? new StorageTooNew({ version, known: newestMigration }).reason : null,
);

export const runMigrations = (
  all: Steps,
): Effect.Effect<ReadonlyArray<string>, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.andThen(ensureTable, Migrator.make({})({ loader: Migrator.fromRecord(all), table })).pipe(
    Effect.map((applied) => applied.map(([, name]) => name)),
  );

const table = "schema_migrations";

export const isTableMissing = (name: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql.onDialectOrElse({
        pg: () => sql`SELECT 1 WHERE to_regclass(${name}) IS NULL`,
        orElse: () => sql`SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ${name})`,
      }),
      (rows) => rows.length > 0,
    ),
  );

/**
 * On Postgres, makes the migrator's table before the migrator does. If the migrator may not make it, it goes on in the
 * failed transaction, and reports that in place of the reason.
 */
const ensureTable = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  if (!dialectOf(sql).isRemote || !(yield* isTableMissing(table))) return;
  yield* sql`
    CREATE TABLE ${sql(table)} (
      migration_id integer PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now(), name text NOT NULL)`;
});

/** The number of the last migration of this release. */
export const newestMigration: number = Math.max(...Object.keys(migrations).map((key) => numberOf(key)));
