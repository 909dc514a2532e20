/**
 * Tells Postgres that most guilds have one scope. Otherwise it takes the members and changes of a plan for few, and reads
 * and sorts all of them for each page.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { changeSchema, IsPreparing } from "./change_schema.ts";

export const planStatistics = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  if (!dialectOf(sql).isRemote) return;
  // From an index with the order of users, Postgres would read the members of all plans for a page of one.
  yield* changeSchema(`
    CREATE INDEX role_members_of_user ON role_members USING hash (chat_id);
    DROP INDEX role_members_by_user
  `);
  if (yield* IsPreparing) return;
  for (const table of ["role_members", "role_changes"]) {
    yield* sql.unsafe(`CREATE STATISTICS ${table}_by_plan (dependencies) ON pid, guild_id FROM ${table}`);
  }
});
