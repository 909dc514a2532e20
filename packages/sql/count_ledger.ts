import { CountLedger, type LedgerCount, type LedgerWindow } from "@accountlink/core/limits";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Layer, Schema } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "./statements/dialect.ts";
import { columnReader, schemaReaderOf } from "./statements/row.ts";
import { storeOperation } from "./statements/store_operation.ts";

export const layer: Layer.Layer<CountLedger, never, SqlClient.SqlClient> = Layer.effect(
  CountLedger,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const { elements, firstRows } = dialectOf(sql);

    /** @param counts a JSON array of `[endsAt, key, counted]`, of distinct windows */
    const save = (counts: string) => sql`
    INSERT INTO day_counts (ends_at, counter, counted)
    SELECT CAST(value ->> 0 AS BIGINT), value ->> 1, CAST(value ->> 2 AS BIGINT)
    FROM ${elements(counts)} WHERE true
    ON CONFLICT (ends_at, counter) DO UPDATE SET counted = excluded.counted
    WHERE excluded.counted > day_counts.counted`;

    const forget = (now: Millis, limit: number) => sql`
    DELETE FROM day_counts ${firstRows({
      table: "day_counts",
      primaryKey: ["ends_at", "counter"],
      order: "ends_at, counter",
      condition: sql`ends_at <= ${now}`,
      limit,
    })}`;

    const load = (windows: ReadonlyArray<LedgerWindow>) => sql`
    SELECT ends_at, counter, counted
    FROM ${elements(JSON.stringify(windows.map(({ endsAt, key }) => [endsAt, key])))}
    JOIN day_counts ON ends_at = CAST(value ->> 0 AS BIGINT) AND counter = value ->> 1`;

    return CountLedger.of({
      renewNode: (nodeId, until, now) =>
        Effect.gen(function* () {
          yield* sql`
        INSERT INTO nodes (id, lives_until) VALUES (${nodeId}, ${until})
        ON CONFLICT (id) DO UPDATE SET lives_until = excluded.lives_until`;
          yield* sql`DELETE FROM nodes WHERE lives_until <= ${now}`;
          const [count = 0] = yield* Effect.flatMap(sql`SELECT COUNT(*) AS count FROM nodes`, readNodeCounts);
          return count;
        }).pipe(sql.withTransaction, storeOperation("CountLedger.renewNode", nodeId)),

      saveCounts: (counts, now) =>
        Effect.andThen(save(rowsOf(counts)), forget(now, counts.length + maxDeletedBeyond)).pipe(
          Effect.asVoid,
          sql.withTransaction,
          storeOperation("CountLedger.saveCounts", ...counts.map(({ key }) => key)),
        ),

      loadCounts: (windows) =>
        load(windows).pipe(
          Effect.flatMap(readCounts),
          Effect.map((counts) => {
            const byName = new Map(counts.map(({ name, counted }) => [name, counted]));
            return windows.map(({ endsAt, key }) => byName.get(nameOf(endsAt, key)) ?? 0);
          }),
          storeOperation("CountLedger.loadCounts", ...windows.map(({ key }) => key)),
        ),
    });
  }),
);

/** A save that stores `n` counts deletes up to `n` ended windows, plus this many more. */
const maxDeletedBeyond = 1_000;

/** Sorts rows to avoid deadlocks. */
const rowsOf = (counts: ReadonlyArray<LedgerCount>): string =>
  JSON.stringify(
    counts
      .toSorted((one, other) => one.endsAt - other.endsAt || (one.key < other.key ? -1 : 1))
      .map(({ endsAt, key, counted }) => [endsAt, key, counted]),
  );

const nameOf = (endsAt: number, key: string): string => `${endsAt} ${key}`;

const readNodeCounts = columnReader("nodes", "count", Schema.Int);

const readCounts = schemaReaderOf(
  "day_counts",
  Schema.Struct({ ends_at: Schema.Int, counter: Schema.String, counted: Schema.Int }),
  ({ ends_at, counter, counted }) => ({ name: nameOf(ends_at, counter), counted }),
);
