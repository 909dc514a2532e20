/** Drops the views through which Postgres served nodes from before the journal. New databases have none. */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { changeSchema } from "./change_schema.ts";

export const earlierViews = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  if (!dialectOf(sql).isRemote) return;
  // Without the function, views of these names belong to another program.
  const made = yield* sql`
    SELECT 1 FROM pg_proc
    WHERE proname = 'earlier_event_inserted' AND pronamespace = current_schema()::regnamespace`;
  if (made.length === 0) return;
  yield* changeSchema(`
    DROP VIEW events, audit_log;
    DROP FUNCTION earlier_event_inserted(), earlier_event_updated(), earlier_entry_inserted(), earlier_entry_updated()
  `);
});
