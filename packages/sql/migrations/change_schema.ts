import { Effect } from "effect";
import { SqlClient, type SqlError } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";

/**
 * Runs statements that change the schema. They are separated by semicolons, and may contain comments. Columns have the
 * type TEXT, INTEGER or SEQUENCE, which the dialect replaces.
 */
export const changeSchema = (
  statements: string,
): Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    const { schemaChange } = dialectOf(sql);
    for (const statement of statements.replaceAll(/--.*/g, "").split(";")) {
      if (statement.trim() !== "") yield* sql.unsafe(schemaChange(statement.trim()));
    }
  });
