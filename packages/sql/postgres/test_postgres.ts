/** For tests: stores and clients on Postgres databases. */
import { makePostgresDatabase, type PostgresDatabase } from "@accountlink/test-servers";
import { testLiveWith } from "@accountlink/test-servers/effect";
import { Context, Effect, Layer, Redacted } from "effect";
import type { SqlClient, SqlConnection } from "effect/sql";
import { migrate } from "../migrations.ts";
import { layer as stores } from "../stores.ts";
import { storeScope } from "../test_scope.ts";
import { layerPostgres } from "./postgres.ts";
import type { PostgresClientOptions } from "./session.ts";
import { layerPostgresClient } from "./sql_client.ts";
import { parsePostgresUrl } from "./url.ts";

export class Database extends Context.Service<Database, PostgresDatabase>()(
  "@accountlink/sql/postgres/test_postgres/Database",
) {
  static readonly layer = Layer.effect(Database, makePostgresDatabase());
}

/** Timeouts that even a busy machine does not reach. */
export const generous = { connectTimeout: "20 seconds", statementTimeout: "20 seconds" } as const;

export const layerOnDatabase = Layer.unwrap(
  Effect.map(makePostgresDatabase(), ({ url }) => layerPostgres({ url: Redacted.make(url), ...generous })),
);

export const layerClient = (
  url: string,
  options: Partial<PostgresClientOptions> = {},
): Layer.Layer<SqlClient.SqlClient | SqlConnection.Connection> =>
  Layer.unwrap(
    Effect.map(Effect.orDie(parsePostgresUrl(Redacted.make(url))), (parsed) =>
      layerPostgresClient({
        url: parsed,
        maxConnections: 4,
        connectTimeout: 20_000,
        statementTimeout: 20_000,
        ...options,
      }),
    ),
  );

export const layerClientOnDatabase = (options?: Partial<PostgresClientOptions>) =>
  Layer.unwrap(Effect.map(Database, ({ url }) => layerClient(url, options))).pipe(
    Layer.provideMerge(Database.layer),
  );

export const testOnDatabase = (options?: Partial<PostgresClientOptions>) =>
  testLiveWith(layerClientOnDatabase(options));

export { origin, scope } from "../test_scope.ts";

/** Tests with the stores of a new database that has `scope`. */
export const testOnStores = (options?: Partial<PostgresClientOptions>) =>
  testLiveWith(
    Layer.effectDiscard(storeScope).pipe(
      Layer.provideMerge(stores),
      Layer.provideMerge(Layer.effectDiscard(migrate)),
      Layer.provideMerge(layerClientOnDatabase(options)),
    ),
  );
