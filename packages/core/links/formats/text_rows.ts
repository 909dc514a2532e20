import { Array as Arr, Clock, Effect, Stream } from "effect";
import { decodedText, endOfText } from "./decoded_text.ts";
import { type LinkFormat, type LinkLine, UnreadableLinkFile } from "./link_format.ts";

import type { RowOptions } from "./row.ts";

/** A row, or the error that ends the file. */
export type Parsed = LinkLine | UnreadableLinkFile;

/** Parses one file. It keeps text that is not yet a whole row. */
export interface TextParser {
  readonly take: (text: string) => ReadonlyArray<Parsed>;
  readonly end: () => ReadonlyArray<Parsed>;
}

/** The greatest length of a row in characters. */
export const longestRow = 65_536;

export const tooLong = (line: number): UnreadableLinkFile =>
  new UnreadableLinkFile({ line, reason: `the row has no end within ${longestRow} characters` });

/** In bytes. Reading a piece takes less than 10 milliseconds, whatever it contains. */
const pieceSize = 4_096;

const piecesOf = (bytes: Uint8Array): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(bytes.length / pieceSize) }, (_, index) =>
    bytes.subarray(index * pieceSize, (index + 1) * pieceSize),
  );

/**
 * Makes the `read` function of a format from its parser. An `UnreadableLinkFile` ends the stream. The process can answer
 * requests between pieces.
 */
export const readText =
  (makeParser: (options: RowOptions) => TextParser): LinkFormat["read"] =>
  (bytes, options = {}) =>
    Stream.unwrap(
      Effect.map(Clock.currentTimeMillis, (now) =>
        bytes.pipe(
          Stream.map(piecesOf),
          Stream.flattenIterable,
          Stream.rechunk(1),
          Stream.tap(() => Effect.yieldNow),
          decodedText,
          Stream.mapAccumArray(
            () => endingParser(makeParser({ ...options, now })),
            (parser, pieces) => [parser, pieces.flatMap(parser.take)],
          ),
          Stream.mapArrayEffect((rows) => {
            const last = Arr.lastNonEmpty(rows);
            return last instanceof UnreadableLinkFile
              ? Effect.fail(last)
              : Effect.succeed(rows as Arr.NonEmptyReadonlyArray<LinkLine>);
          }),
        ),
      ),
    );

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
