import { Effect, Layer } from "effect";
import { SqlClient } from "effect/sql";
import { migrate } from "./migrations.ts";
import { layerSqlite } from "./sqlite/client/sql_client.ts";

/** The tables of this release's schema, read from a new database in memory. @internal */
export const releaseTables: Effect.Effect<ReadonlyArray<string>> = Effect.gen(function* () {
  yield* migrate;
  const sql = yield* SqlClient.SqlClient;
  const found = yield* sql<{ readonly name: string }>`
    SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`;
  return found.map(({ name }) => name);
}).pipe(Effect.provide(Layer.fresh(layerSqlite({ filename: ":memory:" }))), Effect.orDie);
