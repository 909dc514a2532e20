/** Adds the first sighting of a user at a place, so that users can tell their browsers apart. */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

export const firstSeen = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* sql`ALTER TABLE sightings ADD COLUMN first_seen_at ${dialectOf(sql).integer}`;
});
