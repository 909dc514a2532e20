/**
 * The schema as a list of migrations. A released migration is never edited; changes are new ones.
 *
 * On Postgres, nodes that do not know a migration keep running during and after it. So a migration only adds tables,
 * indexes and optional columns, and drops what no running node uses. If a migration waits for a lock longer than a
 * second, the node that runs the migration fails to start.
 */
import { Data, Effect } from "effect";
import { Migrator, SqlClient, type SqlError } from "effect/sql";
import { initial } from "./migrations/0001_initial.ts";
import { members } from "./migrations/0002_members.ts";
import { firstSeen } from "./migrations/0003_first_seen.ts";
import { rolePlans } from "./migrations/0004_role_plans.ts";
import { answers } from "./migrations/0005_answers.ts";
import { dropNodes } from "./migrations/0006_drop_nodes.ts";
import { groupRoles } from "./migrations/0007_group_roles.ts";
import { invitations } from "./migrations/0008_invitations.ts";
import { unlinkedMembers } from "./migrations/0009_unlinked_members.ts";
import { operatorAccounts } from "./migrations/0010_operator_accounts.ts";
import { keyRevocations } from "./migrations/0011_key_revocations.ts";
import { rolePreviews } from "./migrations/0012_role_previews.ts";
import { accountNames } from "./migrations/0013_account_names.ts";
import { uploads } from "./migrations/0014_uploads.ts";
import { proofs } from "./migrations/0015_proofs.ts";
import { gameWays } from "./migrations/0016_game_ways.ts";
import { guildLogs } from "./migrations/0017_guild_logs.ts";
import { blocks } from "./migrations/0018_blocks.ts";
import { suspects } from "./migrations/0019_suspects.ts";
import { importUndo } from "./migrations/0020_import_undo.ts";
import { dialectOf } from "./statements/dialect.ts";

/** Each key has the form `<number>_<name>`. */
export const migrations: Readonly<
  Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>>
> = {
  "0001_initial": initial,
  "0002_members": members,
  "0003_first_seen": firstSeen,
  "0004_role_plans": rolePlans,
  "0005_answers": answers,
  "0006_drop_nodes": dropNodes,
  "0007_group_roles": groupRoles,
  "0008_invitations": invitations,
  "0009_unlinked_members": unlinkedMembers,
  "0010_operator_accounts": operatorAccounts,
  "0011_key_revocations": keyRevocations,
  "0012_role_previews": rolePreviews,
  "0013_account_names": accountNames,
  "0014_uploads": uploads,
  "0015_proofs": proofs,
  "0016_game_ways": gameWays,
  "0017_guild_logs": guildLogs,
  "0018_blocks": blocks,
  "0019_suspects": suspects,
  "0020_import_undo": importUndo,
};

/** A newer release has migrated the database. Nothing was changed. */
export class DatabaseTooNew extends Data.TaggedError("DatabaseTooNew")<{
  readonly version: number;
  readonly known: number;
}> {
  readonly code = "DATABASE_TOO_NEW";
  readonly details = { version: this.version, known: this.known };
  override readonly message =
    `Cannot use the database: its schema is version ${this.version}, expected ${this.known} or lower`;
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
