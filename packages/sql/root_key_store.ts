import { RootKeyStore } from "@accountlink/core/secrets";
import { Effect, Layer, Schema } from "effect";
import { SqlClient } from "effect/sql";
import { columnReader } from "./statements/row.ts";
import { storeOperation } from "./statements/store_operation.ts";

export const layer: Layer.Layer<RootKeyStore, never, SqlClient.SqlClient> = Layer.effect(
  RootKeyStore,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const find = Effect.flatMap(sql`SELECT wrapped FROM root_key`, readWrapped);
    return RootKeyStore.of({
      adopt: (wrapped) =>
        Effect.gen(function* () {
          const [known] = yield* find;
          if (known !== undefined) return known;
          // If several nodes start together, one inserts the key, and the others wait for its commit.
          yield* sql`
            INSERT INTO root_key (id, wrapped) VALUES (1, ${wrapped}) ON CONFLICT (id) DO NOTHING`;
          const [stored = wrapped] = yield* find;
          return stored;
        }).pipe(storeOperation("RootKeyStore.adopt", wrapped)),

      replace: (expected, next) =>
        sql`UPDATE root_key SET wrapped = ${next} WHERE wrapped = ${expected} RETURNING wrapped`.pipe(
          Effect.map((rows) => rows.length > 0),
          storeOperation("RootKeyStore.replace", expected, next),
        ),
    });
  }),
);

const readWrapped = columnReader("root_key", "wrapped", Schema.String);
