/** The file of rows that an import left out, as CSV. */
import { csvRow } from "../csv.ts";
import type { LeftOutLine } from "./formats/link_format.ts";

/** @internal */
export const leftOutHeader = "line,reason,row\n";

/**
 * A row of the file, with its end.
 *
 * @internal
 */
export const leftOutRow = ({ line, problem, text }: LeftOutLine): string =>
  `${csvRow([line, problem, text])}\n`;
