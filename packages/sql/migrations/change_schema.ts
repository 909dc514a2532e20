import { Context, Effect } from "effect";
import { SqlClient, type SqlError } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { isThere, prepare } from "./prepared_statement.ts";

/**
 * Whether a step of Postgres is being prepared, while nodes of the release before read and write. Each statement then
 * commits alone, so that no lock waits for another, and indexes are built beside writes. The step itself finds them.
 */
export const IsPreparing = Context.Reference<boolean>("@accountlink/sql/IsPreparing", {
  defaultValue: () => false,
});

/**
 * Runs statements that change the schema. They are separated by semicolons, and may contain comments. Columns have the
 * type TEXT, INTEGER or SEQUENCE, which the dialect replaces.
 */
export const changeSchema = (
  statements: string,
): Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    const { schemaChange, isRemote } = dialectOf(sql);
    const isPreparing = yield* IsPreparing;
    for (const statement of statements.replaceAll(/--.*/g, "").split(";")) {
      if (statement.trim() === "") continue;
      const change = schemaChange(statement.trim());
      if (isPreparing) yield* prepare(sql, change);
      else if (!(isRemote && (yield* isThere(sql, change)))) yield* sql.unsafe(change);
    }
  });
