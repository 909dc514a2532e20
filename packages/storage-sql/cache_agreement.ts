/** What is agreed on about a cache, in SQL. */
import { CacheAgreement, type CacheTerms, Pid } from "@accountlink/core";
import { Effect, Layer, Schema } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "./internal/dialect.ts";
import { LongestWrite } from "./internal/longest_write.ts";
import { operation } from "./internal/operation.ts";
import { schemaReaderOf } from "./internal/row.ts";

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const longestWrite = yield* LongestWrite;
  const { now, isCommitLate, rowsWritten } = dialectOf(sql);

  return CacheAgreement.of({
    longestWrite,

    read: sql`
      SELECT scope, CASE WHEN opens_at < ${never} THEN run END AS run, ${now} - closed_at AS age,
        CASE WHEN opens_at <= ${now} AND NOT ${isCommitLate(longestWrite.ofCommit)} THEN 1 ELSE 0 END AS open
      FROM cache_closures
      WHERE scope = ${wholeCache} OR opens_at > ${now}`.pipe(
      Effect.flatMap(readClosures),
      Effect.map(termsOf),
      operation("CacheAgreement.read"),
    ),

    adopt: (run, closedMs) =>
      sql`
        INSERT INTO cache_closures (scope, run, closed_at, opens_at)
        VALUES (${wholeCache}, ${run}, ${now}, ${never})
        ON CONFLICT (scope) DO UPDATE SET run = excluded.run, opens_at = excluded.opens_at
        WHERE cache_closures.run IS DISTINCT FROM excluded.run`.pipe(
        // Its time begins when everybody can see it, which a statement cannot know of itself.
        Effect.andThen(
          sql`
            UPDATE cache_closures SET closed_at = ${now}, opens_at = ${now} + ${closedMs}
            WHERE scope = ${wholeCache} AND run = ${run} AND opens_at = ${never}`.raw,
        ),
        Effect.map((written) => rowsWritten(written) > 0),
        operation("CacheAgreement.adopt", run),
      ),

    close: (pid, closedMs) =>
      // What is over is nobody's any more.
      sql`DELETE FROM cache_closures WHERE scope <> ${wholeCache} AND opens_at < ${now}`.pipe(
        Effect.andThen(sql`
          INSERT INTO cache_closures (scope, run, closed_at, opens_at)
          VALUES (${pid}, NULL, ${now}, ${now} + ${closedMs})
          ON CONFLICT (scope) DO UPDATE SET opens_at = CASE
            WHEN excluded.opens_at > cache_closures.opens_at THEN excluded.opens_at
            ELSE cache_closures.opens_at END`),
        Effect.asVoid,
        operation("CacheAgreement.close"),
      ),
  });
});

/** The agreement on the database of the client, whose schema has been migrated. */
export const layer: Layer.Layer<CacheAgreement, never, SqlClient.SqlClient> = Layer.effect(
  CacheAgreement,
  make,
);

/** In the place of a scope: the row of the cache itself, the only one with a run. */
const wholeCache = "";

/** When a run is used that was named, but whose time has not begun. */
const never = Number.MAX_SAFE_INTEGER;

const ClosureRow = Schema.Struct({
  scope: Schema.Union([Schema.Literal(wholeCache), Pid]),
  run: Schema.NullOr(Schema.String),
  age: Schema.Int,
  open: Schema.Int,
});

const readClosures = schemaReaderOf("cache_closures", ClosureRow, (row) => row);

const termsOf = (closures: ReadonlyArray<typeof ClosureRow.Type>): CacheTerms => {
  const closed = new Set<Pid>();
  let whole: Omit<CacheTerms, "closed"> = { run: null, adoptedMsAgo: 0, isOpen: false };
  for (const { scope, run, age, open } of closures) {
    if (scope === wholeCache) whole = { run, adoptedMsAgo: age, isOpen: open === 1 };
    else closed.add(scope);
  }
  return { ...whole, closed };
};
