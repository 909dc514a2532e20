/**
 * Sightings by their age, for the sweep that forgets them. A node of the release before forgets none.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";

export const sightingRetention = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;

  yield* sql`CREATE INDEX sightings_by_age ON sightings (seen_at)`;
});
