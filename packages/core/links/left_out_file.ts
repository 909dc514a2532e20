/**
 * The file of rows that an import left out, as CSV.
 */
import type { LeftOutLine } from "./formats/link_format.ts";

/** @internal */
export const leftOutHeader = "line,reason,row\n";

/**
 * A row of the file, with its end.
 *
 * @internal
 */
export const leftOutRow = ({ line, problem, text }: LeftOutLine): string =>
  `${line},${cell(problem)},${cell(text)}\n`;

/** What a spreadsheet would run is text. */
const cell = (text: string): string => {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
};
