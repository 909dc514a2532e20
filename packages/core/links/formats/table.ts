import { columnsOf, reportUnread } from "./columns.ts";
import type { LinkLine, UnreadableLinkFile } from "./link_format.ts";
import { type Row, type RowOptions, readRow } from "./row.ts";

/** @internal */
export interface TableReader {
  readonly read: (row: Row) => LinkLine;
  /**
   * Adds the unread columns to `ReadOptions.unreadColumns`. Returns an error if the meaning of one of them is unclear;
   * otherwise null.
   */
  readonly refusal: () => UnreadableLinkFile | null;
}

/**
 * Makes a reader for the rows of a database table. If the table lacks required columns, returns the problem as text.
 *
 * @internal
 */
export const tableReader = (names: ReadonlyArray<string>, options: RowOptions): TableReader | string => {
  const columns = columnsOf(names, options);
  if ("problem" in columns) return columns.problem;
  return {
    read: (row) => readRow(row, columns, options),
    refusal: () => reportUnread(columns, 1, options),
  };
};
