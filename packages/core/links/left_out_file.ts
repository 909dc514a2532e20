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

/** The bounds of a file, without its header and last line; the size is in bytes. */
const bounds = { rows: 10_000, size: 9_999_900 };

/**
 * The rows of a file of at most 10,000 rows and 10 MB, which ends with the number of those that it has not.
 *
 * @internal
 */
export const boundedLeftOut = () => {
  const encoder = new TextEncoder();
  let [rows, size, more] = [0, 0, 0];
  const take = (line: LeftOutLine): string => {
    if (more > 0 || rows === bounds.rows || size > bounds.size) {
      more++;
      return "";
    }
    const text = leftOutRow(line);
    size += encoder.encode(text).length;
    if (size > bounds.size) return take(line);
    rows++;
    return text;
  };
  return {
    add: (lines: ReadonlyArray<LeftOutLine>): string => lines.map(take).join(""),
    end: (): string =>
      more === 0 ? "" : `${csvRow(["", `${more.toLocaleString("en")} more rows were left out`, ""])}\n`,
  };
};
