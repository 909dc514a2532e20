/** The places that have records, for sweeps. */
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Schema } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { batchSize } from "../statements/in_batches.ts";
import { schemaReaderOf } from "../statements/row.ts";
import type { Ending } from "../statements/store_operation.ts";

/**
 * Finds every place with a record of some kind, in small steps, each of which reads one entry of the primary key and one
 * record a place: the index has no times.
 *
 * @param first SELECT of the time of the first such record of `places.place`
 */
export const eachPlace = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  first: Statement.Fragment,
  run: (place: string, at: Millis) => Effect.Effect<void, Ending>,
) {
  let after = "";
  for (;;) {
    const found: ReadonlyArray<typeof First.Type> = yield* readFirsts(sql`
      WITH RECURSIVE places (place, number) AS (
        SELECT MIN(place), 1 FROM journal WHERE place > ${after}
        UNION ALL
        SELECT (SELECT MIN(place) FROM journal WHERE journal.place > places.place), number + 1
        FROM places WHERE place IS NOT NULL AND number < ${batchSize}
      )
      SELECT place, (${first}) AS at FROM places WHERE place IS NOT NULL`);
    for (const { place, at } of found) if (at !== null) yield* run(place, at);
    const last = found.at(-1);
    if (last === undefined || found.length < batchSize) return;
    after = last.place;
    yield* Effect.yieldNow;
  }
});

const First = Schema.Struct({ place: Schema.String, at: Schema.NullOr(Schema.Int) });

const readFirsts = schemaReaderOf("journal", First);
