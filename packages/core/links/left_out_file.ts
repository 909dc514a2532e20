import { csvRow } from "../csv.ts";
import type { LeftOutLine } from "./formats/link_format.ts";

/** @internal */
export const leftOutHeader = "line,reason,row\n";

/** Formats a row of the CSV file of left-out rows, with its line end. @internal */
export const leftOutRow = ({ line, problem, text }: LeftOutLine): string =>
  `${csvRow([line, problem, text])}\n`;

/** The limits of a file of left-out rows, not counting its header and last line. `size` is in bytes. */
const bounds = { rows: 10_000, size: 9_999_900 };

/**
 * Makes a writer for the file of left-out rows, which writes at most 10,000 rows and 10 MB. The last line counts the
 * rows beyond these limits. @internal
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
