/** The places that have records, for sweeps. */
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Schema } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { batchSize } from "../statements/in_batches.ts";
import { schemaReaderOf } from "../statements/row.ts";
import type { Ending } from "../statements/store_operation.ts";

/** A place, and when its first record of some kind was made; null if it has no such record. */
export interface FirstOfPlace {
  readonly place: string;
  readonly at: Millis | null;
}

/**
 * Finds every place in small steps, each of which reads one entry of the primary key and one record a place: the index
 * has no times.
 *
 * @param first SELECT of the time of a record of `places.place`
 */
export const eachPlace = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  first: Statement.Fragment,
  run: (found: ReadonlyArray<FirstOfPlace>) => Effect.Effect<void, Ending>,
) {
  let after = "";
  for (;;) {
    const found: ReadonlyArray<FirstOfPlace> = yield* readFirsts(sql`
      WITH RECURSIVE places (place, number) AS (
        SELECT MIN(place), 1 FROM journal WHERE place > ${after}
        UNION ALL
        SELECT (SELECT MIN(place) FROM journal WHERE journal.place > places.place), number + 1
        FROM places WHERE place IS NOT NULL AND number < ${batchSize}
      )
      SELECT place, (${first}) AS at FROM places WHERE place IS NOT NULL`);
    yield* run(found);
    const last = found.at(-1);
    if (last === undefined || found.length < batchSize) return;
    after = last.place;
    yield* Effect.yieldNow;
  }
});

const readFirsts = schemaReaderOf(
  "journal",
  Schema.Struct({ place: Schema.String, at: Schema.NullOr(Schema.Int) }),
);
