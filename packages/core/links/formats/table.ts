/** Rows of tables, such as those of a database. */
import { columnsOf, reportUnread } from "./columns.ts";
import type { LinkLine, ReadOptions, UnreadableLinkFile } from "./link_format.ts";
import { type Row, readRow } from "./row.ts";

/** @internal */
export interface TableReader {
  readonly read: (row: Row) => LinkLine;
  /** Reports the columns that are not read. Returns why the table is not read; null if it is. */
  readonly refusal: () => UnreadableLinkFile | null;
}

/**
 * Makes the reader of the rows of a table, or says what is wrong with its columns.
 *
 * @internal
 */
export const tableReader = (
  names: ReadonlyArray<string>,
  options: ReadOptions = {},
): TableReader | string => {
  const columns = columnsOf(names, options);
  if ("problem" in columns) return columns.problem;
  return {
    read: (row) => readRow(row, columns, options),
    refusal: () => reportUnread(columns, 1, options),
  };
};
