/** Rows of tables, such as those of a database. */
import { columnsOf } from "./columns.ts";
import type { LinkLine, ReadOptions } from "./link_format.ts";
import { type Row, readRow } from "./row.ts";

/**
 * Makes the reader of the rows of a table, or says what is wrong with its columns.
 *
 * @internal
 */
export const tableReader = (
  names: ReadonlyArray<string>,
  options: ReadOptions = {},
): ((row: Row) => LinkLine) | string => {
  const columns = columnsOf(names, options);
  return "problem" in columns ? columns.problem : (row) => readRow(row, columns, options);
};
