import { type DayCount, DayCounts } from "@accountlink/core/limits";
import { assertStorable } from "@accountlink/core/storable_text";
import { Schema } from "effect";
import { schemaReaderOf } from "./statements/row.ts";
import { storeLayer } from "./statements/store_operation.ts";

export const layer = storeLayer(DayCounts)(({ sql, operation, transaction, elements, firstRows }) => ({
  save: transaction("save", function* (counts, now) {
    assertStorable(counts.map(({ key }) => key));
    yield* sql`
      INSERT INTO day_counts (ends_at, counter, counted)
      SELECT CAST(value ->> 0 AS BIGINT), value ->> 1, CAST(value ->> 2 AS BIGINT)
      FROM ${elements(rowsOf(counts))} WHERE true
      ON CONFLICT (ends_at, counter) DO UPDATE SET counted = excluded.counted
      WHERE excluded.counted > day_counts.counted`;
    const ended = firstRows({
      table: "day_counts",
      primaryKey: ["ends_at", "counter"],
      order: "ends_at, counter",
      condition: sql`ends_at <= ${now}`,
      limit: counts.length + maxDeletedBeyond,
    });
    yield* sql`DELETE FROM day_counts ${ended}`;
  }),

  load: operation("load", (now) =>
    readCounts(sql`SELECT ends_at, counter, counted FROM day_counts WHERE ends_at > ${now}`),
  ),
}));

/** A save that stores `n` counts deletes up to `n` ended windows, plus this many more. */
const maxDeletedBeyond = 1_000;

/** A JSON array of `[endsAt, key, counted]`, of distinct windows, sorted to avoid deadlocks. */
const rowsOf = (counts: ReadonlyArray<DayCount>): string =>
  JSON.stringify(
    counts
      .toSorted((one, other) => one.endsAt - other.endsAt || (one.key < other.key ? -1 : 1))
      .map(({ endsAt, key, counted }) => [endsAt, key, counted]),
  );

const readCounts = schemaReaderOf(
  "day_counts",
  Schema.Struct({ ends_at: Schema.Int, counter: Schema.String, counted: Schema.Int }),
  ({ ends_at, counter, counted }) => ({ key: counter, endsAt: ends_at, counted }),
);
