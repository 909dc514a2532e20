import { columnsOf, reportUnread } from "./columns.ts";
import { type Row, type RowOptions, readRow } from "./row.ts";

/** Makes a reader for the rows of a database table, or returns why its columns are not links. @internal */
export const tableReader = (names: ReadonlyArray<string>, options: RowOptions) => {
  const columns = columnsOf(names, options);
  if ("problem" in columns) return columns.problem;
  return {
    read: (row: Row) => readRow(row, columns, options),
    /** Adds the unread columns to `ReadOptions.unreadColumns`. Returns an error if one is unclear, or null. */
    refusal: () => reportUnread(columns, 1, options),
  };
};
