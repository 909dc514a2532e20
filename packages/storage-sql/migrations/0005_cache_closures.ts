/**
 * What nodes agree on about a cache of links: its run and until when it is not used, in the row of the empty scope; until
 * when a scope is not cached, in the others.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../internal/dialect.ts";

export const cacheClosures = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { text, integer, tableByKey } = dialectOf(sql);

  yield* sql`
    CREATE TABLE cache_closures (
      scope ${text} NOT NULL PRIMARY KEY,
      run ${text},
      closed_at ${integer} NOT NULL,
      opens_at ${integer} NOT NULL
    ) ${tableByKey}`;
});
