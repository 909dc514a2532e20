/**
 * CSV files that spreadsheets open, by RFC 4180.
 */

type Cell = string | number | null;

/**
 * The text of a file. A text that a spreadsheet would run as a formula gets an apostrophe before it.
 *
 * @example
 * ```ts
 * csvOf(["name", "served"], [["=1+1", 2]]); // "name,served\r\n'=1+1,2\r\n"
 * ```
 */
export const csvOf = (columns: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<Cell>>): string =>
  [columns, ...rows].map((cells) => `${cells.map(cellText).join(",")}\r\n`).join("");

const cellText = (cell: Cell): string => {
  if (typeof cell === "number") return String(cell);
  const text = harmless(cell ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Also full-width signs, and signs behind white space, begin a formula. */
const harmless = (text: string): string => (/^\s*[=+\-@＝＋－＠]|^[\t\r\n]/u.test(text) ? `'${text}` : text);
