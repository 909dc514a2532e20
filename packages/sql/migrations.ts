/**
 * The schema as a list of migrations. A released migration is never edited; changes are new ones.
 *
 * On Postgres, nodes that do not know a migration keep running during and after it. So a migration only adds tables,
 * indexes and optional columns, and drops what no running node uses. If a migration waits for a lock longer than a
 * second, the node that runs the migration fails to start.
 */
import { StorageTooNew, schemaAhead } from "@accountlink/core";
import { Data, Effect } from "effect";
import { Migrator, SqlClient, type SqlError } from "effect/sql";
import { initial } from "./migrations/0021_initial.ts";
import { communities } from "./migrations/0022_communities.ts";
import { freshProof } from "./migrations/0023_fresh_proof.ts";
import { blockRemovals } from "./migrations/0024_block_removals.ts";
import { bypassRoles } from "./migrations/0025_bypass_roles.ts";
import { journal } from "./migrations/0026_journal.ts";
import { memberScopes } from "./migrations/0027_member_scopes.ts";
import { replacedNicknames } from "./migrations/0028_replaced_nicknames.ts";
import { reminders } from "./migrations/0029_reminders.ts";
import { provenAt } from "./migrations/0030_proven_at.ts";
import { erasures } from "./migrations/0031_erasures.ts";
import { planWork } from "./migrations/0032_plan_work.ts";
import { byChatUser } from "./migrations/0033_by_chat_user.ts";
import { undo } from "./migrations/0034_undo.ts";
import { answersByUser } from "./migrations/0035_answers_by_user.ts";
import { keyMakers } from "./migrations/0036_key_makers.ts";
import { storagePlace } from "./migrations/0037_storage_place.ts";
import { dialectOf } from "./statements/dialect.ts";

/** Each key has the form `<number>_<name>`. */
export const migrations: Readonly<
  Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>>
> = {
  "0021_initial": initial,
  "0022_communities": communities,
  "0023_fresh_proof": freshProof,
  "0024_block_removals": blockRemovals,
  "0025_bypass_roles": bypassRoles,
  "0026_journal": journal,
  "0027_member_scopes": memberScopes,
  "0028_replaced_nicknames": replacedNicknames,
  "0029_reminders": reminders,
  "0030_proven_at": provenAt,
  "0031_erasures": erasures,
  "0032_plan_work": planWork,
  "0033_by_chat_user": byChatUser,
  "0034_undo": undo,
  "0035_answers_by_user": answersByUser,
  "0036_key_makers": keyMakers,
  "0037_storage_place": storagePlace,
};

/** A newer release has migrated the database. Nothing was changed. */
export class DatabaseTooNew extends Data.TaggedError("DatabaseTooNew")<{
  readonly version: number;
  readonly known: number;
}> {
  readonly code = "DATABASE_TOO_NEW";
  readonly details = { version: this.version, known: this.known };
  override readonly message = `Cannot use the database: ${schemaAhead(this)}`;
}

/**
 * Runs the pending migrations, all or none, and returns their names. If several processes start together, one of them
 * migrates while the others wait for the lock.
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
      // A database of a newer release has no pending migrations. So this check can follow the migrations, while the
      // lock is still held.
      const version = yield* lastMigration;
      if (version > newestMigration) return yield* new DatabaseTooNew({ version, known: newestMigration });
      return applied;
    }),
  );
});

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
  all: typeof migrations,
): Effect.Effect<ReadonlyArray<string>, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.andThen(ensureTable, Migrator.make({})({ loader: Migrator.fromRecord(all), table })).pipe(
    Effect.map((applied) => applied.map(([, name]) => name)),
  );

const table = "schema_migrations";

/**
 * On Postgres, makes the migrator's table before the migrator does. If the migrator may not make it, it goes on in the
 * failed transaction, and reports that in place of the reason.
 */
const ensureTable = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const isMissing = sql.onDialectOrElse({
    pg: () => Effect.map(sql`SELECT 1 WHERE to_regclass(${table}) IS NULL`, (rows) => rows.length > 0),
    orElse: () => Effect.succeed(false),
  });
  if (!(yield* isMissing)) return;
  yield* sql`
    CREATE TABLE ${sql(table)} (
      migration_id integer PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now(), name text NOT NULL)`;
});

/** The number of the last migration of this release. */
export const newestMigration: number = Math.max(
  ...Object.keys(migrations).map((key) => Number.parseInt(key, 10)),
);
