/**
 * Files of links in CSV or NDJSON: one link per line, with `chatId`, `gameId` and `lastVerifiedAt`.
 *
 * A line without a `lastVerifiedAt` counts as verified now. Unknown columns are errors, so that a
 * misspelt one is not lost.
 */

import { redact } from "@accountlink/core/addresses";
import { isChatId, isGameId } from "@accountlink/core/ids";
import type { PortableLink } from "@accountlink/core/links";
import { formatTimestamp, type Millis, parseTimestamp } from "@accountlink/core/timestamp";
import { Array as Arr, Data, Effect, Option, Predicate, Stream } from "effect";

export const linkFormats = ["csv", "ndjson"] as const;

export type LinkFormat = (typeof linkFormats)[number];

/**
 * A line with its link, or with the problem of the line. Lines count from 1. Blank lines are
 * omitted.
 */
export type LinkLine =
  | { readonly line: number; readonly link: PortableLink }
  | { readonly line: number; readonly problem: string };

/** The file cannot be parsed from this line on. */
export class UnreadableLinkFile extends Data.TaggedError("UnreadableLinkFile")<{
  readonly line: number;
  readonly reason: string;
}> {
  override readonly message = `Cannot read line ${this.line}: ${this.reason}`;
}

/** The format by the extension: `.csv`, `.ndjson` or `.jsonl`. */
export const formatOfName = (name: string): Option.Option<LinkFormat> => {
  const ending = /\.(csv|ndjson|jsonl)$/i.exec(name)?.[1]?.toLowerCase();
  if (ending === undefined) return Option.none();
  return Option.some(ending === "csv" ? "csv" : "ndjson");
};

const fields = ["chatId", "gameId", "lastVerifiedAt"] as const;

/** The start of a file. */
export const linkFileHeader = (format: LinkFormat): string =>
  format === "csv" ? `${fields.join(",")}\n` : "";

/** The lines of links. IDs and times need no quotes. */
export const formatLinks = (links: ReadonlyArray<PortableLink>, format: LinkFormat): string => {
  let text = "";
  for (const { chatId, gameId, lastVerifiedAt } of links) {
    const time = formatTimestamp(lastVerifiedAt);
    text +=
      format === "csv"
        ? `${chatId},${gameId},${time}\n`
        : `{"chatId":"${chatId}","gameId":"${gameId}","lastVerifiedAt":"${time}"}\n`;
  }
  return text;
};

/**
 * The lines of a file, in constant memory.
 *
 * @param now the time of the lines that name none
 */
export const parseLinkLines = <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  format: LinkFormat,
  now: Millis,
): Stream.Stream<LinkLine, E | UnreadableLinkFile, R> =>
  Stream.decodeText(bytes).pipe(
    readWith(() => lineReader(format === "csv" ? csvLines(now) : ndjsonLines(now))),
  );

const readLink = (
  chatId: unknown,
  gameId: unknown,
  lastVerifiedAt: unknown,
  line: number,
  now: Millis,
): LinkLine => {
  if (!isChatId(chatId)) return { line, problem: wrong("chatId", chatId, "5 to 32 digits") };
  if (!isGameId(gameId)) return { line, problem: wrong("gameId", gameId, "1 to 32 digits") };
  const time = readTime(lastVerifiedAt, now);
  return Option.isNone(time)
    ? {
        line,
        problem: wrong(
          "lastVerifiedAt",
          lastVerifiedAt,
          "an ISO 8601 date, or a date and time with its offset",
        ),
      }
    : { line, link: { chatId, gameId, lastVerifiedAt: time.value } };
};

const readTime = (value: unknown, now: Millis): Option.Option<Millis> => {
  if (value === undefined || value === null || value === "") return Option.some(now);
  return typeof value === "string" ? parseTimestamp(value) : Option.none();
};

const wrong = (field: string, value: unknown, expected: string): string => {
  if (value === undefined || value === null || value === "")
    return `${field} is missing, expected ${expected}`;
  return typeof value === "string"
    ? `${field} is ${shown(value)}, expected ${expected}`
    : `${field} is the JSON ${shown(JSON.stringify(value))}, expected a string of ${expected}`;
};

/** Quotes a value of a file in a message: shortened, on one line, and without keys. */
const shown = (text: string): string => {
  const safe = redact(text);
  return JSON.stringify(safe.length > 40 ? `${safe.slice(0, 40)}…` : safe);
};

/** Splits chunks of a file into lines. An `UnreadableLinkFile` ends the stream. */
interface LineReader {
  readonly take: (pieces: ReadonlyArray<string>) => ReadonlyArray<LinkLine | UnreadableLinkFile>;
  readonly end: () => ReadonlyArray<LinkLine | UnreadableLinkFile>;
}

const readWith =
  (makeReader: () => LineReader) =>
  <E, R>(pieces: Stream.Stream<string, E, R>): Stream.Stream<LinkLine, E | UnreadableLinkFile, R> =>
    pieces.pipe(
      Stream.mapAccumArray(makeReader, (reader, chunk) => [reader, reader.take(chunk)], {
        onHalt: (reader) => reader.end(),
      }),
      Stream.mapArrayEffect((lines) => {
        const last = Arr.lastNonEmpty(lines);
        return last instanceof UnreadableLinkFile
          ? Effect.fail(last)
          : Effect.succeed(lines as Arr.NonEmptyReadonlyArray<LinkLine>);
      }),
    );

/** The parser of a format. */
interface LinkLines {
  /** Parses a line without its line end. Null for a header or a blank line. */
  readonly read: (text: string, line: number) => LinkLine | UnreadableLinkFile | null;
  /** The problem at the end of the file, if any. */
  readonly missing: (lines: number) => UnreadableLinkFile | null;
}

/** The maximum length of a line, in characters. */
const longestLine = 65_536;

const lineReader = ({ read, missing }: LinkLines): LineReader => {
  let rest = "";
  let line = 0;

  const readAll = (texts: ReadonlyArray<string>): ReadonlyArray<LinkLine | UnreadableLinkFile> => {
    const lines: Array<LinkLine | UnreadableLinkFile> = [];
    for (const text of texts) {
      const found = read(text, ++line);
      if (found !== null) lines.push(found);
      if (found instanceof UnreadableLinkFile) break;
    }
    return lines;
  };

  return {
    take: (pieces) => {
      const text = rest + pieces.join("");
      // A line feed in the next chunk may belong to this line end.
      const heldBack = text.endsWith("\r") ? "\r" : "";
      const texts = text.slice(0, text.length - heldBack.length).split(/\r\n?|\n/);
      rest = `${texts.pop()}${heldBack}`;
      const lines = readAll(texts);
      const tooLong = `expected ${longestLine} characters or less`;
      return rest.length > longestLine
        ? [...lines, new UnreadableLinkFile({ line: line + 1, reason: tooLong })]
        : lines;
    },
    end: () => {
      const lines = rest === "" ? [] : readAll([rest.replace(/\r$/, "")]);
      const lacking = missing(line);
      return lacking === null || lines.at(-1) instanceof UnreadableLinkFile ? lines : [...lines, lacking];
    },
  };
};

/** The column of each field, or -1. */
type Columns = Readonly<Record<(typeof fields)[number], number>>;

/**
 * Cells contain no line breaks, so lines are parsed one by one, and a misplaced quote affects one
 * line only.
 */
const csvLines = (now: Millis): LinkLines => {
  let columns: Columns | undefined;
  let width = 0;

  const readRow = (
    cells: ReadonlyArray<string>,
    { chatId, gameId, lastVerifiedAt }: Columns,
    line: number,
  ): LinkLine =>
    cells.length === width
      ? readLink(cells[chatId], cells[gameId], cells[lastVerifiedAt], line, now)
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
  return Array.from(text.matchAll(nextCell), ([, quoted, plain = ""]) =>
    quoted === undefined ? plain : quoted.replaceAll('""', '"'),
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
    reason: `the header is ${shown(text)}, expected "chatId,gameId" or "chatId,gameId,lastVerifiedAt"`,
  });

const ndjsonLines = (now: Millis): LinkLines => ({
  read: (text, line) => (text.trim() === "" ? null : readJson(text, line, now)),
  missing: () => null,
});

const readJson = (text: string, line: number, now: Millis): LinkLine => {
  const value = parseJson(text);
  if (!Predicate.isObject(value)) return { line, problem: "the line is not a JSON object" };
  const unknown = Object.keys(value).find((name) => !(fields as ReadonlyArray<string>).includes(name));
  return unknown === undefined
    ? readLink(value["chatId"], value["gameId"], value["lastVerifiedAt"], line, now)
    : { line, problem: `the field ${shown(unknown)} is not known, expected ${fields.join(", ")}` };
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
