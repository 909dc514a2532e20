/**
 * Links in CSV with a header. Cells are separated by commas, semicolons, tabs or `|`, or by the character in a line
 * `sep=` before the header.
 *
 * No library reads the rows, because after a misplaced quote, libraries spoil more than one row: at an unclosed quote,
 * `csv-parse` and `papaparse` take the rest of the file as one row, and at other misplaced quotes they join lines.
 */
import {
  type ColumnProblem,
  type Columns,
  columnsOf,
  maxColumns,
  minecraft,
  reportUnread,
} from "./columns.ts";
import { fields, quoted, UnreadableLinkFile } from "./link_format.ts";
import { leaveOut, type RowOptions, readRow } from "./row.ts";
import { type LineParser, linesParser, type Parsed, type TextParser } from "./text_rows.ts";

/** The header is one of the first lines with text: titles may stand above it. */
const mostTitles = 3;

/**
 * The most characters of a row with line breaks. A longer row has a misplaced quote, and each of its lines is read as a row.
 * A note from Discord has up to 4,000 characters: 8,000 with doubled quotes, and as many lines as it likes.
 */
const longestOpen = 16_384;

export const csvParser = (options: RowOptions): TextParser => linesParser(csvLines(options));

interface Header {
  readonly columns: Columns;
  readonly width: number;
  readonly cellsOf: (text: string) => ReadonlyArray<string> | null;
}

/**
 * Parses the lines of a CSV file. Cells may contain line breaks only if the file has a column that is not read, such as
 * notes. In other files, each line is a row, so a misplaced quote spoils only its own line.
 */
const csvLines = (options: RowOptions): LineParser => {
  let header: Header | undefined;
  let separators = splitters;
  /** The lines read so far of a row whose quote is not closed yet. */
  let open: Array<string> = [];
  let openLength = 0;
  let openSince = 0;
  /** Why each line before the header is no header. */
  const titles: Array<UnreadableLinkFile> = [];

  const readWhole = (
    text: string,
    line: number,
    { columns, width, cellsOf }: Header,
  ): ReadonlyArray<Parsed> => {
    const cells = cellsOf(text);
    const row = { line, text, values: cells ?? [] };
    if (cells === null) {
      return [
        leaveOut(row, "row", "a quote is misplaced, expected cells that are quoted whole or not at all"),
      ];
    }
    // Spreadsheets add and drop empty cells at the end of a line.
    const filled = cells.findLastIndex((cell) => cell !== "") + 1;
    if (filled === 0) return [];
    if (filled <= width) return [readRow(row, columns, options)];
    const count = filled > maxColumns ? `more than ${maxColumns}` : filled;
    return [leaveOut(row, "row", `the line has ${count} cells, expected ${width}`)];
  };

  /**
   * Gives up on a quote that no other one closes: reports the line with the quote as wrong, and reads each later line as
   * a row of its own.
   */
  const giveUp = (known: Header): ReadonlyArray<Parsed> => {
    const [first = "", ...others] = open;
    open = [];
    return [
      ...readWhole(first, openSince, known),
      ...others.flatMap((text, index) => readLine(text, openSince + 1 + index, known)),
    ];
  };

  const readLine = (text: string, line: number, known: Header): ReadonlyArray<Parsed> => {
    const hasNotes = known.width > fields.length || known.columns.unread.length > 0;
    if (open.length === 0) {
      if (text === "") return [];
      if (!hasNotes || quotesIn(text) % 2 === 0) return readWhole(text, line, known);
      open = [text];
      openLength = text.length;
      openSince = line;
      return [];
    }
    open.push(text);
    openLength += text.length + 1;
    if (quotesIn(text) % 2 === 1) {
      const whole = open.join("\n");
      if (known.cellsOf(whole) === null) return giveUp(known);
      // Whoever wrote a quoted note could otherwise link accounts by a line of it.
      const isRow = (each: string) => readWhole(each, line, known).some((row) => "link" in row);
      const hidden = open.slice(1).some(isRow);
      open = [];
      if (!hidden) return readWhole(whole, openSince, known);
      const row = { line: openSince, text: whole, values: [] };
      return [leaveOut(row, "row", `a quote that line ${line} closes holds lines that look like rows`)];
    }
    return openLength > longestOpen ? giveUp(known) : [];
  };

  return {
    read: (text, line) => {
      if (header !== undefined) return readLine(text, line, header);
      const [, separator] = /^"?sep=(.)"?$/i.exec(text) ?? [];
      if (separator !== undefined) separators = [splitter(separator), ...splitters];
      if (separator !== undefined || text.trim() === "") return [];
      const found = headerOf(text, separators, options);
      if ("problem" in found) {
        titles.push(noHeader(line, text, found));
        return found.problem === minecraft || titles.length > mostTitles ? titles.slice(0, 1) : [];
      }
      header = found;
      const refusal = reportUnread(found.columns, line, options);
      return refusal === null ? [] : [refusal];
    },
    end: (lines) => {
      if (header === undefined) {
        const [first] = titles;
        if (first !== undefined) return [first];
        const reason = "the file is empty, expected a header such as chatId,gameId";
        return [new UnreadableLinkFile({ line: lines + 1, reason, said: { is: "file", kind: "empty" } })];
      }
      return open.length === 0 ? [] : giveUp(header);
    },
  };
};

const quotesIn = (text: string): number => text.split('"').length - 1;

/**
 * Makes a function that splits a line into trimmed cells, at most one more than `maxColumns`. It returns null if a quote
 * is misplaced.
 */
const splitter = (separator: string) => {
  const code = String.raw`\u${separator.charCodeAt(0).toString(16).padStart(4, "0")}`;
  // A spreadsheet reads `="1"` as the text 1.
  const quotedOrPlain = String.raw`[ \u00A0]*=?"([^"]*(?:""[^"]*)*)"[ \u00A0]*|([^"${code}]*)`;
  const wholeRow = new RegExp(`^(?:${quotedOrPlain})(?:${code}(?:${quotedOrPlain}))*$`);
  const nextCell = new RegExp(`${code}(?:${quotedOrPlain})`, "g");
  return (text: string): ReadonlyArray<string> | null => {
    if (!text.includes('"')) return text.split(separator, maxColumns + 1).map(trim);
    if (!wholeRow.test(text)) return null;
    const cells: Array<string> = [];
    // After an empty match, such as of an empty first cell, the search would skip a separator.
    for (const [, whole, plain = ""] of `${separator}${text}`.matchAll(nextCell)) {
      cells.push(trim(whole === undefined ? plain : whole.replaceAll('""', '"')));
      if (cells.length > maxColumns) break;
    }
    return cells;
  };
};

const trim = (cell: string): string => cell.trim();

const splitters = [",", ";", "\t", "|"].map(splitter);

/**
 * Splits the header at each separator in turn, and returns the first result that has the required columns. If no result
 * has them, returns the problem with the header.
 */
const headerOf = (
  text: string,
  separators: ReadonlyArray<ReturnType<typeof splitter>>,
  options: RowOptions,
): Header | ColumnProblem => {
  let found: ColumnProblem = { reason: "row", problem: "" };
  for (const cellsOf of separators) {
    const cells = cellsOf(text) ?? [];
    const columns = columnsOf(cells, options);
    if (!("problem" in columns)) return { columns, width: cells.length, cellsOf };
    if (found.problem === "" || cells.length > 1) found = columns;
  }
  return found;
};

const noHeader = (line: number, text: string, { reason, problem }: ColumnProblem): UnreadableLinkFile => {
  const header = quoted(text);
  const lacks = reason === "no_chat_id" || reason === "no_game_id" ? reason : "other";
  return new UnreadableLinkFile({
    line,
    reason: `the header is ${header}, ${problem}`,
    said: problem === minecraft ? { is: "file", kind: "minecraft" } : { is: "header", header, lacks },
  });
};
