import { Clock, Effect, Stream } from "effect";
import type { Millis } from "../../timestamp.ts";
import {
  type DateOrder,
  type FileKind,
  type LinkLine,
  type LinkReader,
  type ReadOptions,
  UnreadableLinkFile,
} from "./link_format.ts";
import { type OddRow, OddRows } from "./odd_rows.ts";
import type { RowOptions } from "./row.ts";

/** A row, a row with an odd word or an unclear time, or the error that ends the file. */
export type Parsed = LinkLine | UnreadableLinkFile | OddRow;

/** Parses one file. It keeps text that is not yet a whole row. */
export interface TextParser {
  readonly take: (text: string) => ReadonlyArray<Parsed>;
  readonly end: () => ReadonlyArray<Parsed>;
}

/** The greatest length of a row in characters. */
export const longestRow = 65_536;

export const tooLong = (line: number): UnreadableLinkFile =>
  new UnreadableLinkFile({
    line,
    reason: `the row has no end within ${longestRow} characters`,
    said: { is: "broken", what: "long" },
  });

/** In bytes. Reading a piece takes less than 20 milliseconds, whatever it contains. */
const pieceSize = 4_096;

export const piecesOf = (bytes: Uint8Array, size: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );

/**
 * Makes the `read` function of a format from its parser. An `UnreadableLinkFile` ends the stream. The process can answer
 * requests between pieces.
 */
export const readText =
  (makeParser: (options: RowOptions) => TextParser): LinkReader =>
  (bytes, options = {}) =>
    readRows(options, (rowOptions) =>
      bytes.pipe(
        Stream.map((chunk) => piecesOf(chunk, pieceSize)),
        Stream.flattenIterable,
        Stream.rechunk(1),
        Stream.tap(() => Effect.yieldNow),
        decodedText,
        Stream.mapAccumArray(
          () => endingParser(makeParser(rowOptions)),
          (parser, pieces) => [parser, pieces.flatMap(parser.take)],
        ),
      ),
    );

/**
 * Reads the rows that `parse` emits, and fails with the error that ends them, if any. From the first odd row on, it only
 * counts odd rows, and asks about them at the end. If only dates were odd, and the others tell their order, it reads the
 * rows once more instead. @internal
 */
export const readRows = <E, R>(
  options: ReadOptions,
  parse: (options: RowOptions) => Stream.Stream<Parsed, E, R>,
): Stream.Stream<LinkLine, E | UnreadableLinkFile, R> => {
  const { unclearTimes: chosen, isRepeatable = false } = options;
  // Other dates of the file count before the choice to read unclear ones as unknown.
  let timesAs = chosen === "unknown" && isRepeatable ? undefined : chosen;
  const dateOrders = new Set<DateOrder>();

  const read = (now: Millis, skipped: number): Stream.Stream<LinkLine, E | UnreadableLinkFile, R> => {
    const odd = new OddRows();
    let count = 0;
    const rows = Stream.mapAccumArrayEffect(
      parse({ ...options, now, timesAs, dateOrders }),
      () => null,
      (state, chunk): Effect.Effect<readonly [null, ReadonlyArray<LinkLine>], UnreadableLinkFile> => {
        const lines: Array<LinkLine> = [];
        for (const row of chunk) {
          if (row instanceof UnreadableLinkFile) {
            if (odd.isEmpty) return Effect.fail(row);
          } else if ("word" in row || "isDate" in row) odd.add(row);
          else if (odd.isEmpty && count++ >= skipped) lines.push(row);
        }
        return Effect.succeed([state, lines]);
      },
    );
    const rest = (): Stream.Stream<LinkLine, E | UnreadableLinkFile, R> => {
      if (odd.isEmpty) return Stream.empty;
      const settled = odd.settled(isRepeatable ? dateOrders : new Set(), chosen);
      if (settled instanceof UnreadableLinkFile) return Stream.fail(settled);
      timesAs = settled;
      return read(now, count);
    };
    return Stream.concat(rows, Stream.suspend(rest));
  };

  return Stream.unwrap(Effect.map(Clock.currentTimeMillis, (now) => read(now, 0)));
};

/** Wraps a parser so that it ignores everything after an unreadable line. */
const endingParser = (parser: TextParser) => {
  let isOver = false;
  const untilUnreadable = (rows: ReadonlyArray<Parsed>): ReadonlyArray<Parsed> => {
    const end = rows.findIndex((row) => row instanceof UnreadableLinkFile);
    isOver = end !== -1;
    return isOver ? rows.slice(0, end + 1) : rows;
  };
  return {
    take: (piece: string | UnreadableLinkFile | typeof endOfText): ReadonlyArray<Parsed> => {
      if (isOver) return [];
      if (piece === endOfText) return untilUnreadable(parser.end());
      return untilUnreadable(typeof piece === "string" ? parser.take(piece) : [piece]);
    },
  };
};

export interface LineParser {
  /** Parses a line. `text` does not include the line end. Headers and blank lines yield no rows. */
  readonly read: (text: string, line: number) => ReadonlyArray<Parsed>;
  /** Called at the end of the file with its number of lines. Returns the rows that were not complete before. */
  readonly end: (lines: number) => ReadonlyArray<Parsed>;
}

export const linesParser = ({ read, end }: LineParser): TextParser => {
  let rest = "";
  let line = 0;

  const readAll = (texts: ReadonlyArray<string>): ReadonlyArray<Parsed> => {
    const rows: Array<Parsed> = [];
    for (const text of texts) {
      line++;
      if (text.length > longestRow) return [...rows, tooLong(line)];
      if (text.includes("\0")) return [...rows, notText(line)];
      const found = read(text, line);
      rows.push(...found);
      if (found.at(-1) instanceof UnreadableLinkFile) break;
    }
    return rows;
  };

  return {
    take: (piece) => {
      const text = rest + piece;
      // If the piece ends with a carriage return, keep it back: the next piece may begin with the line feed that
      // belongs to it.
      const heldBack = text.endsWith("\r") ? "\r" : "";
      const texts = text.slice(0, text.length - heldBack.length).split(/\r\n?|\n/);
      rest = `${texts.pop()}${heldBack}`;
      const rows = readAll(texts);
      return rest.length > longestRow ? [...rows, tooLong(line + 1)] : rows;
    },
    end: () => {
      const rows = rest === "" ? [] : readAll([rest.replace(/\r$/, "")]);
      return rows.at(-1) instanceof UnreadableLinkFile ? rows : [...rows, ...end(line)];
    },
  };
};

const notText = (line: number): UnreadableLinkFile =>
  new UnreadableLinkFile({
    line,
    reason: "the line has NUL characters, so it is not text",
    said: { is: "broken", what: "nul" },
  });

/** The number of bytes that suffice to recognize the kind of a file. */
const headSize = 16;

/** How files of other kinds begin, and why they are refused. */
const kinds: ReadonlyArray<readonly [start: string, kind: FileKind, reason: string]> = [
  ["PK\x03\x04", "zip", "the file is a ZIP archive or a spreadsheet, expected the CSV or JSON text itself"],
  ...["\x1F\x8B", "\x28\xB5\x2F\xFD", "BZh", "\xFD7zXZ"].map(
    (begin) => [begin, "compressed", "the file is compressed, expected the CSV or JSON text itself"] as const,
  ),
  ["\xD0\xCF\x11\xE0", "spreadsheet", "the file is a spreadsheet, expected it saved as CSV"],
  ["%PDF", "pdf", "the file is a PDF, expected CSV or JSON"],
  ...["\x89PNG", "\xFF\xD8\xFF", "GIF8", "RIFF"].map(
    (begin) => [begin, "image", "the file is an image, expected CSV or JSON"] as const,
  ),
  [
    "SQLite format 3\0",
    "sqlite",
    "the file is an SQLite database, which only the command line reads: export it as CSV",
  ],
];

const refused = (kind: FileKind, reason: string): UnreadableLinkFile =>
  new UnreadableLinkFile({ line: 1, reason, said: { is: "file", kind } });

/** Control characters that no text begins with. */
const controls = /[^\P{Cc}\t\n\v\f\r]/u;

/** Marks the end of a complete file, after its last text. */
const endOfText = Symbol("endOfText");

/** Decodes the text of a file without its byte order mark. Emits an `UnreadableLinkFile` if the file is binary. */
const decodedText = <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>,
): Stream.Stream<string | UnreadableLinkFile | typeof endOfText, E, R> =>
  Stream.suspend(() => {
    let head: Uint8Array | null = new Uint8Array(0);
    let decoder = new TextDecoder();

    const start = (first: Uint8Array): string | UnreadableLinkFile => {
      const found = kinds.find(([begin]) => latin(first).startsWith(begin));
      head = null;
      if (found !== undefined) return refused(found[1], found[2]);
      decoder = new TextDecoder(encodingOf(first));
      const text = decoder.decode(first, { stream: true });
      return controls.test(text.slice(0, headSize))
        ? refused("binary", "the file is not text, expected CSV or JSON")
        : text;
    };

    const take = (chunk: Uint8Array): string | UnreadableLinkFile => {
      if (head === null) return decoder.decode(chunk, { stream: true });
      head = Uint8Array.of(...head, ...chunk);
      return head.length < headSize ? "" : start(head);
    };

    const end = () => [...(head === null ? [] : [start(head)]), decoder.decode(), endOfText] as const;

    return Stream.concat(
      Stream.map(bytes, take),
      Stream.suspend(() => Stream.fromIterable(end())),
    );
  });

const latin = (bytes: Uint8Array): string => String.fromCharCode(...bytes.subarray(0, headSize));

const encodingOf = ([first, second]: Uint8Array): string => {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (first !== 0 && second === 0) return "utf-16le";
  return first === 0 && second !== 0 && second !== undefined ? "utf-16be" : "utf-8";
};
