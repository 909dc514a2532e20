/** For tests: whether the steps of the schema lead to the same one from wherever a database is. */
import { expect } from "@effect/vitest";
import { Effect } from "effect";
import type { SqlClient } from "effect/sql";
import { migrate, migrations, runSteps } from "../migrations.ts";

/** The steps, and the names by which they are told. */
export const steps = Object.entries(migrations);
export const names = steps.map(([key]) => key.slice(key.indexOf("_") + 1));

type OnDatabase<Failure> = <A, E>(
  effect: Effect.Effect<A, E, SqlClient.SqlClient>,
) => Effect.Effect<A, E | Failure>;

/**
 * Expects that an empty database and one that is `done` steps on end with the same schema, and gives it.
 *
 * @param onDatabase runs something on a database of its own
 * @param schema finds everything that is in the schema
 */
export const expectSameSchema = Effect.fnUntraced(function* <Row, E, F>(
  onDatabase: OnDatabase<F>,
  schema: Effect.Effect<ReadonlyArray<Row>, E, SqlClient.SqlClient>,
  done: number,
) {
  const fromNothing = yield* onDatabase(Effect.andThen(migrate, schema));
  yield* onDatabase(
    Effect.gen(function* () {
      yield* runSteps(Object.fromEntries(steps.slice(0, done)));
      expect(yield* migrate).toEqual(names.slice(done));
      expect(yield* schema).toEqual(fromNothing);
      expect(yield* migrate).toEqual([]);
    }),
  );
  return fromNothing;
});
