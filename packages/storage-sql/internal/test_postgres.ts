/** For tests: stores and clients on a Postgres. */
import { makePostgresDatabase, type PostgresDatabase, type PostgresServer } from "@accountlink/test-servers";
import { Context, Duration, Effect, Layer, Redacted } from "effect";
import type { SqlClient, SqlConnection } from "effect/sql";
import { layerPostgres, type PostgresOptions } from "../postgres.ts";
import { layerPostgresClient } from "./postgres_client.ts";
import type { PostgresPoolOptions } from "./postgres_pool.ts";
import { parsePostgresUrl } from "./postgres_url.ts";

/** A database that nobody else uses. */
export class Database extends Context.Service<Database, PostgresDatabase>()(
  "@accountlink/storage-sql/internal/test_postgres/Database",
) {
  static readonly layer = Layer.effect(Database, makePostgresDatabase());
}

/** So that a busy machine fails no test that is not about time. */
export const generous = { connectTimeout: "20 seconds", statementTimeout: "20 seconds" } as const;

/** The stores, on a database of their own. */
export const layerOnDatabase = (options: Omit<PostgresOptions, "url"> = {}, server?: PostgresServer) =>
  Layer.unwrap(
    Effect.map(makePostgresDatabase(server), ({ url }) =>
      layerPostgres({ url: Redacted.make(url), ...generous, ...options }),
    ),
  );

/** A client of a database. */
export const layerClient = (
  url: string,
  options: Partial<PostgresPoolOptions> = {},
): Layer.Layer<SqlClient.SqlClient | SqlConnection.Connection> =>
  Layer.unwrap(
    Effect.map(Effect.orDie(parsePostgresUrl(Redacted.make(url))), (place) =>
      layerPostgresClient({
        place,
        maxConnections: 4,
        connectTimeout: Duration.seconds(20),
        statementTimeout: Duration.seconds(20),
        ...options,
      }),
    ),
  );

/** A database of its own, and a client of it. */
export const layerClientOnDatabase = (options?: Partial<PostgresPoolOptions>) =>
  Layer.unwrap(Effect.map(Database, ({ url }) => layerClient(url, options))).pipe(
    Layer.provideMerge(Database.layer),
  );

/** Runs a test with the client of a database of its own. */
export const onDatabase = <A, E, R>(
  body: Effect.Effect<A, E, R | Database | SqlClient.SqlClient | SqlConnection.Connection>,
  options?: Partial<PostgresPoolOptions>,
) => Effect.provide(body, layerClientOnDatabase(options), { local: true });
