/** For tests: whether all versions migrate to the same schema. */
import { expect } from "@effect/vitest";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { migrate, migrations, runMigrations } from "../migrations.ts";

export const steps = Object.entries(migrations);
export const names = steps.map(([key]) => key.slice(key.indexOf("_") + 1));

type OnDatabase<Failure> = <A, E>(
  effect: Effect.Effect<A, E, SqlClient.SqlClient>,
) => Effect.Effect<A, E | Failure>;

/**
 * Expects that an empty database and one at each of the versions migrate to the same schema, and returns it.
 *
 * @param onDatabase runs an effect on a new database
 * @param schema reads the schema
 */
export const expectSameSchema = Effect.fnUntraced(function* <Row, E, F>(
  onDatabase: OnDatabase<F>,
  schema: Effect.Effect<ReadonlyArray<Row>, E, SqlClient.SqlClient>,
  versions: ReadonlyArray<number> = steps.map((_, done) => done),
) {
  const fromNothing = yield* onDatabase(Effect.andThen(migrate, schema));
  for (const done of versions) {
    yield* onDatabase(
      Effect.gen(function* () {
        yield* runMigrations(Object.fromEntries(steps.slice(0, done)));
        expect(yield* migrate).toEqual(names.slice(done));
        expect(yield* schema, `from version ${done}`).toEqual(fromNothing);
        expect(yield* migrate).toEqual([]);
      }),
    );
  }
  return fromNothing;
});
