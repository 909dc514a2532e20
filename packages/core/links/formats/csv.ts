/**
 * Links in CSV, with a header.
 */
import { formatTimestamp } from "../../timestamp.ts";
import {
  fields,
  type LinkFormat,
  type LinkLine,
  quoted,
  readLink,
  UnreadableLinkFile,
} from "./link_format.ts";
import { type LineParser, readLines } from "./text_lines.ts";

/** IDs and times need no quotes. */
export const csv: LinkFormat = {
  endings: ["csv"],
  read: readLines(() => csvParser()),
  header: `${fields.join(",")}\n`,
  write: ({ chatId, gameId, lastVerifiedAt }) => `${chatId},${gameId},${formatTimestamp(lastVerifiedAt)}\n`,
};

/** The column of each field, or -1. */
type Columns = Readonly<Record<(typeof fields)[number], number>>;

/**
 * Cells contain no line breaks, so lines are parsed one by one, and a misplaced quote affects one
 * line only.
 */
const csvParser = (): LineParser => {
  let columns: Columns | undefined;
  let width = 0;

  const readRow = (
    cells: ReadonlyArray<string>,
    { chatId, gameId, lastVerifiedAt }: Columns,
    line: number,
  ): LinkLine =>
    cells.length === width
      ? readLink(cells[chatId], cells[gameId], cells[lastVerifiedAt], line)
      : { line, problem: `the line has ${cells.length} cells, expected ${width}` };

  return {
    read: (text, line) => {
      const cells = cellsOf(text);
      if (columns === undefined) {
        columns = columnsOf(cells ?? []);
        width = cells?.length ?? 0;
        return columns === undefined ? noHeader(line, text) : null;
      }
      if (text === "" || text === '""') return null;
      return cells === null
        ? { line, problem: "a quote is misplaced, expected cells that are quoted whole or not at all" }
        : readRow(cells, columns, line);
    },
    missing: (lines) => (columns === undefined ? noHeader(lines + 1, "") : null),
  };
};

const quotedOrPlain = String.raw`"([^"]*(?:""[^"]*)*)"|([^",]*)`;
const wholeRow = new RegExp(`^(?:${quotedOrPlain})(?:,(?:${quotedOrPlain}))*$`);
const nextCell = new RegExp(`(?:^|,)(?:${quotedOrPlain})`, "g");

/** The cells of a line, or null if a quote is misplaced. */
const cellsOf = (text: string): ReadonlyArray<string> | null => {
  if (!text.includes('"')) return text.split(",");
  if (!wholeRow.test(text)) return null;
  return Array.from(text.matchAll(nextCell), ([, whole, plain = ""]) =>
    whole === undefined ? plain : whole.replaceAll('""', '"'),
  );
};

const columnsOf = (header: ReadonlyArray<string>): Columns | undefined => {
  const [chatId, gameId, lastVerifiedAt] = fields.map((field) => header.indexOf(field)) as [
    number,
    number,
    number,
  ];
  const known = [chatId, gameId, lastVerifiedAt].filter((index) => index >= 0).length;
  return chatId >= 0 && gameId >= 0 && known === header.length
    ? { chatId, gameId, lastVerifiedAt }
    : undefined;
};

const noHeader = (line: number, text: string): UnreadableLinkFile =>
  new UnreadableLinkFile({
    line,
    reason: `the header is ${quoted(text)}, expected "chatId,gameId" or "chatId,gameId,lastVerifiedAt"`,
  });
