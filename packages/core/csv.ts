/**
 * Formats a row by RFC 4180, without a line end. Text that a spreadsheet would run as a formula is prefixed with an
 * apostrophe. @internal
 */
export const csvRow = (cells: ReadonlyArray<string | number | null>): string => cells.map(cellText).join(",");

const cellText = (cell: string | number | null): string => {
  if (typeof cell === "number") return String(cell);
  const text = harmless(cell ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Formulas can also begin with full-width signs, or after white space. A number is no formula. */
const harmless = (text: string): string =>
  /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/u.test(text) && !/^[+-]\d+(?:\.\d+)?$/.test(text) ? `'${text}` : text;
