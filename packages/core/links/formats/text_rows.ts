import { Array as Arr, Effect, Stream } from "effect";
import { decodedText, endOfText } from "./decoded_text.ts";
import { type LinkFormat, type LinkLine, type ReadOptions, UnreadableLinkFile } from "./link_format.ts";

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

/** Makes the `read` function of a format from its parser. An `UnreadableLinkFile` ends the stream. */
export const readText =
  (makeParser: (options: ReadOptions) => TextParser): LinkFormat["read"] =>
  (bytes, options = {}) =>
    decodedText(bytes).pipe(
      Stream.mapAccumArray(
        () => endingParser(makeParser(options)),
        (parser, pieces) => [parser, pieces.flatMap(parser.take)],
      ),
      Stream.mapArrayEffect((rows) => {
        const last = Arr.lastNonEmpty(rows);
        return last instanceof UnreadableLinkFile
          ? Effect.fail(last)
          : Effect.succeed(rows as Arr.NonEmptyReadonlyArray<LinkLine>);
      }),
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
