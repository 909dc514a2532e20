import { Effect } from "effect";
import { SqlClient } from "effect/sql";
import { initial } from "./migrations/0021_initial.ts";
import { changeSchema } from "./migrations/change_schema.ts";
import { migrations, runMigrations } from "./migrations.ts";

/** Makes an empty database one of the last commit before the first release, whose schema had 20 steps. */
export const makeStep20 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* runMigrations({ "0021_initial": initial });
  yield* changeSchema(`
    ALTER TABLE idempotency_keys ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
    ALTER TABLE idempotency_keys ADD COLUMN held_until INTEGER;
    ALTER TABLE idempotency_keys ADD COLUMN erased INTEGER NOT NULL DEFAULT 0;
    DELETE FROM schema_migrations`);
  for (let step = 1; step <= 20; step++)
    yield* sql`INSERT INTO schema_migrations (migration_id, name) VALUES (${step}, 'earlier')`;
});

/** @param step the beginning of a key of `migrations`, such as `0026` */
export const stepsBefore = (step: string) =>
  Object.fromEntries(Object.entries(migrations).filter(([name]) => name < step));
