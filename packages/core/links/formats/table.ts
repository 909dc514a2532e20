import { columnsOf, reportUnread } from "./columns.ts";
import type { LinkLine, ReadOptions, UnreadableLinkFile } from "./link_format.ts";
import { type Row, readRow } from "./row.ts";

/** @internal */
export interface TableReader {
  readonly read: (row: Row) => LinkLine;
  /** Reports unread columns. Returns the error if unclear columns prevent reading; else null. */
  readonly refusal: () => UnreadableLinkFile | null;
}

/** Makes a reader of a table's rows, such as a database's, or returns the problem with its columns. @internal */
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
