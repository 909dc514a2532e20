/**
 * The files that carry links, in CSV or NDJSON: one link a line, with `chatId`, `gameId` and `lastVerifiedAt`.
 *
 * A line without a `lastVerifiedAt` was verified when it is read. What else a line holds is a mistake: a misspelt name
 * would otherwise be a column that is lost.
 */
import {
  ChatId,
  formatTimestamp,
  GameId,
  type Millis,
  type PortableLink,
  parseTimestamp,
  redact,
} from "@accountlink/core";
import { Array as Arr, Data, Effect, Option, Predicate, Schema, Stream } from "effect";
import { Csv } from "effect/encoding";

export const linkFormats = ["csv", "ndjson"] as const;

export type LinkFormat = (typeof linkFormats)[number];

/** A line of a file: the link in it, or why there is none. Lines count from 1, and a blank one is not given. */
export type LinkLine =
  | { readonly line: number; readonly link: PortableLink }
  | { readonly line: number; readonly problem: string };

/** The file cannot be read from this line on. */
export class UnreadableLinkFile extends Data.TaggedError("UnreadableLinkFile")<{
  readonly line: number;
  readonly reason: string;
}> {
  override readonly message = `Cannot read line ${this.line}: ${this.reason}`;
}

/** The format that the ending of a file's name tells: `.csv`, `.ndjson` or `.jsonl`. */
export const formatOfName = (name: string): Option.Option<LinkFormat> => {
  const ending = /\.(csv|ndjson|jsonl)$/i.exec(name)?.[1]?.toLowerCase();
  if (ending === undefined) return Option.none();
  return Option.some(ending === "csv" ? "csv" : "ndjson");
};

const fields = ["chatId", "gameId", "lastVerifiedAt"] as const;

/** What a file begins with. */
export const linkFileHeader = (format: LinkFormat): string =>
  format === "csv" ? `${fields.join(",")}\n` : "";

/** The lines of these links. Neither ids nor times have anything to be quoted. */
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
): Stream.Stream<LinkLine, E | UnreadableLinkFile, R> => {
  const text = Stream.decodeText(bytes);
  return format === "csv"
    ? text.pipe(
        Stream.pipeThroughChannel(Csv.decodeString()),
        Stream.mapError((error) => (Csv.isCsvError(error) ? unreadable(error) : error)),
        readWith(() => csvReader(now)),
      )
    : text.pipe(readWith(() => ndjsonReader(now)));
};

const unreadable = ({ line, message }: Csv.CsvError): UnreadableLinkFile =>
  new UnreadableLinkFile({ line, reason: message.charAt(0).toLowerCase() + message.slice(1) });

const isChatId = Schema.is(ChatId);
const isGameId = Schema.is(GameId);

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

/** Whatever stands in a file may get into an answer: in part, on one line, and never a key. */
const shown = (text: string): string => {
  const safe = redact(text);
  return JSON.stringify(safe.length > 40 ? `${safe.slice(0, 40)}…` : safe);
};

/** What gives a file's lines piece by piece. One that cannot be read from some line on ends with the reason. */
interface LineReader<Piece> {
  readonly take: (pieces: ReadonlyArray<Piece>) => ReadonlyArray<LinkLine | UnreadableLinkFile>;
  readonly end: () => ReadonlyArray<LinkLine | UnreadableLinkFile>;
}

const readWith =
  <Piece>(makeReader: () => LineReader<Piece>) =>
  <E, R>(pieces: Stream.Stream<Piece, E, R>): Stream.Stream<LinkLine, E | UnreadableLinkFile, R> =>
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

/** Where in a row each field stands; nowhere is -1. */
type Columns = Readonly<Record<(typeof fields)[number], number>>;

const csvReader = (now: Millis): LineReader<Csv.Row> => {
  let columns: Columns | undefined;
  let width = 0;
  let line = 1;

  const readRow = (cells: Csv.Row, { chatId, gameId, lastVerifiedAt }: Columns): LinkLine =>
    cells.length === width
      ? readLink(cells[chatId], cells[gameId], cells[lastVerifiedAt], line, now)
      : { line, problem: `the line has ${cells.length} cells, expected ${width}` };

  return {
    take: (rows) => {
      const lines: Array<LinkLine | UnreadableLinkFile> = [];
      for (const cells of rows) {
        if (columns === undefined) {
          columns = columnsOf(cells);
          if (columns === undefined) return [noHeader(line, cells)];
          width = cells.length;
        } else if (cells.length > 1 || cells[0] !== "") {
          const read = readRow(cells, columns);
          lines.push(read);
          // Cells of a link hold no line breaks.
          if ("problem" in read) line += cells.join().match(/\r\n?|\n/g)?.length ?? 0;
        }
        line++;
      }
      return lines;
    },
    end: () => (columns === undefined ? [noHeader(line, [])] : []),
  };
};

const columnsOf = (header: Csv.Row): Columns | undefined => {
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

const noHeader = (line: number, cells: Csv.Row): UnreadableLinkFile =>
  new UnreadableLinkFile({
    line,
    reason: `the header is ${shown(cells.join(","))}, expected "chatId,gameId" or "chatId,gameId,lastVerifiedAt"`,
  });

/** In characters. No link comes near it. */
const longestLine = 65_536;

const ndjsonReader = (now: Millis): LineReader<string> => {
  let rest = "";
  let line = 0;
  const tooLong = () =>
    new UnreadableLinkFile({ line: line + 1, reason: `expected ${longestLine} characters or less` });
  return {
    take: (texts) => {
      const lines: Array<LinkLine | UnreadableLinkFile> = [];
      for (const text of texts) {
        const parts = (rest + text).split("\n");
        rest = parts.pop() as string;
        for (const part of parts) {
          line++;
          if (part.trim() !== "") lines.push(readJson(part, line, now));
        }
        if (rest.length > longestLine) return [tooLong()];
      }
      return lines;
    },
    end: () => (rest.trim() === "" ? [] : [readJson(rest, line + 1, now)]),
  };
};

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
