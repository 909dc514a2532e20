/** Rows of CSV that spreadsheets open, by RFC 4180. */

/**
 * A row without its end. A text that a spreadsheet would run as a formula gets an apostrophe before it.
 *
 * @internal
 */
export const csvRow = (cells: ReadonlyArray<string | number | null>): string => cells.map(cellText).join(",");

const cellText = (cell: string | number | null): string => {
  if (typeof cell === "number") return String(cell);
  const text = harmless(cell ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Also full-width signs, and signs behind white space, begin a formula. */
const harmless = (text: string): string => (/^\s*[=+\-@＝＋－＠]|^[\t\r\n]/u.test(text) ? `'${text}` : text);
