/** What a restore does in a database of Postgres before and after its dump. */
import { Clock, Context, Effect } from "effect";
import { SqlClient, type SqlError } from "effect/sql";
import type { DatabaseUnusable } from "../database_unusable.ts";
import { restDatabase } from "../storage_place.ts";
import { open, type PostgresOptions } from "./postgres.ts";

const asked = <A>(
  options: PostgresOptions,
  ask: (sql: SqlClient.SqlClient) => Effect.Effect<A, SqlError.SqlError>,
): Effect.Effect<A, DatabaseUnusable> =>
  Effect.scoped(
    Effect.flatMap(open(options), ({ database, unusable }) =>
      Effect.mapError(ask(Context.get(database, SqlClient.SqlClient)), unusable),
    ),
  );

/**
 * Returns who else is connected to the database, such as `accountlink at 10.0.0.1`. A server is always connected.
 *
 * @param own the name of the connections that do not count
 * @internal
 */
export const usersOf = (
  options: PostgresOptions,
  own: string | null = null,
): Effect.Effect<ReadonlyArray<string>, DatabaseUnusable> =>
  asked(
    options,
    Effect.fnUntraced(function* (sql) {
      const rows = yield* sql<{ readonly name: string | null; readonly address: string | null }>`
        SELECT application_name AS name, client_addr::text AS address FROM pg_stat_activity
        WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
          AND application_name IS DISTINCT FROM ${own}::text
        ORDER BY backend_start`;
      return rows.map(
        ({ name, address }) =>
          `${name === "" || name === null ? "a program" : name} at ${address?.replace(/\/\d+$/, "") ?? "this machine"}`,
      );
    }),
  );

/**
 * Puts the tables of the database into another schema, so that a dump can be restored in their place. Returns the name of
 * that schema, and how to put them back. @internal
 */
export const setAside = (options: PostgresOptions, name: string) =>
  asked(
    options,
    Effect.fnUntraced(function* (sql) {
      const [found] = yield* sql<{ readonly own: string }>`SELECT current_schema()::text AS own`;
      const own = found?.own ?? "public";
      const exchange = Effect.andThen(
        sql`ALTER SCHEMA ${sql(own)} RENAME TO ${sql(name)}`,
        sql`CREATE SCHEMA ${sql(own)}`,
      );
      yield* sql.withTransaction(exchange);
      const putBack = asked(options, (later) =>
        Effect.andThen(
          later`DROP SCHEMA ${later(own)} CASCADE`,
          later`ALTER SCHEMA ${later(name)} RENAME TO ${later(own)}`,
        ).pipe(later.withTransaction, Effect.asVoid),
      );
      return { schema: name, putBack };
    }),
  );

/** Makes a restored database rest. @internal */
export const restPostgres = (options: PostgresOptions): Effect.Effect<void, DatabaseUnusable> =>
  asked(options, (sql) =>
    Effect.flatMap(Clock.currentTimeMillis, (since) => restDatabase(sql, { since, reason: "restored" })),
  );
