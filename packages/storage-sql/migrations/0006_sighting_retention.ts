/**
 * Sightings by age, for the sweep. Nodes of the previous release delete none.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";

export const sightingRetention = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;

  yield* sql`CREATE INDEX sightings_by_age ON sightings (seen_at)`;
});
