import { csvRow } from "@accountlink/core/csv";

/** The text of a file. A text that a spreadsheet would run as a formula gets an apostrophe before it. */
export const csvOf = (
  columns: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string | number | null>>,
): string => [columns, ...rows].map((cells) => `${csvRow(cells)}\r\n`).join("");
