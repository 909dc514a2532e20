/** Deletes files of uploaded imports in steps: a file of 20 MB takes SQLite half a second. */
import { Effect } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { inBatches } from "../statements/in_batches.ts";

/** How many parts of files a step deletes, each of which is many pages of SQLite. */
const partsOfStep = 8;

/** Deletes the files of imports in steps. */
export const deleteFiles = (sql: SqlClient.SqlClient, condition: Statement.Fragment) => {
  const { asStep, firstRows, isAnyOf, rowsWritten } = dialectOf(sql);
  const some = firstRows({
    table: "import_parts",
    primaryKey: ["import_id", "file", "part"],
    order: "import_id",
    condition: sql`import_id ${isAnyOf(sql`SELECT id FROM imports WHERE ${condition}`)}`,
    limit: partsOfStep,
  });
  const deleteSome = Effect.map(sql`DELETE FROM import_parts ${some}`.raw, rowsWritten);
  return inBatches(asStep(deleteSome), partsOfStep);
};
