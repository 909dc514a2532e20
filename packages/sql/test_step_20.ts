import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { changeSchema } from "./migrations/change_schema.ts";

/** Makes the database of this release one of the last commit before it, whose schema had 20 steps. */
export const backToStep20 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* changeSchema(`
    ALTER TABLE idempotency_keys ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
    ALTER TABLE idempotency_keys ADD COLUMN held_until INTEGER;
    ALTER TABLE idempotency_keys ADD COLUMN erased INTEGER NOT NULL DEFAULT 0;
    DROP TABLE communities;
    ALTER TABLE scopes DROP COLUMN fresh_proof;
    DROP TABLE block_removals;
    ALTER TABLE role_plans DROP COLUMN bypass_role_ids;
    ALTER TABLE role_plans DROP COLUMN nickname_bypass_role_ids;
    DELETE FROM schema_migrations`);
  for (let step = 1; step <= 20; step++)
    yield* sql`INSERT INTO schema_migrations (migration_id, name) VALUES (${step}, 'earlier')`;
});
