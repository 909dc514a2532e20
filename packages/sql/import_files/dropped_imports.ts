/** Ends uploaded imports, whose files a sweep deletes: a file of 20 MB takes SQLite half a second. */
import { Effect } from "effect";
import type { SqlClient, Statement } from "effect/sql";
import { dialectOf } from "../statements/dialect.ts";
import { inBatches } from "../statements/in_batches.ts";
import { literalSql } from "../statements/row.ts";

/** How many parts of files a step deletes, each of which is many pages of SQLite. */
const partsOfStep = 8;

/** A dropped import, which is nobody's any more. */
export const isDropped = literalSql("account = 'dropped ' || id");

/** The account of an import that is being read, which replaces the account's import once it is. No name has a line feed. */
export const uploadOf = (account: string): string => `upload\n${account}`;

/** Makes imports those of nobody, and leaves them to the next sweep. Returns their number. */
export const dropImports = (sql: SqlClient.SqlClient, condition: Statement.Fragment) =>
  Effect.map(
    sql`UPDATE imports SET account = 'dropped ' || id, holder = '', phase = 'over', details = '', expires_at = 0,
        size = 0
      WHERE (${condition}) AND NOT (${isDropped})`.raw,
    (raw) => dialectOf(sql).rowsWritten(raw),
  );

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
