import { csvRow } from "@accountlink/core/csv";

/** Writes a CSV file. Text that a spreadsheet would run as a formula gets a leading apostrophe. */
export const csvOf = (
  columns: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string | number | null>>,
): string => [columns, ...rows].map((cells) => `${csvRow(cells)}\r\n`).join("");
