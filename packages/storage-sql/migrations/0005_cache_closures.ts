/**
 * The agreement of nodes about a cache of links: the run of the cache and when it opens, in the row
 * of the empty scope; when a scope can be cached again, in the others.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

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
