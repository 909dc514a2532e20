/**
 * Files with one link per line of text.
 */
import { Array as Arr, Effect, Stream } from "effect";
import { type LinkFormat, type LinkLine, UnreadableLinkFile } from "./link_format.ts";

/** The parser of the lines of one file. */
export interface LineParser {
  /** Parses a line without its line end. Null for a header or a blank line. */
  readonly read: (text: string, line: number) => LinkLine | UnreadableLinkFile | null;
  /** The problem at the end of a file with so many lines, if any. */
  readonly missing: (lines: number) => UnreadableLinkFile | null;
}

/** Reads a file with a parser. An `UnreadableLinkFile` ends the stream. */
export const readLines =
  (makeParser: () => LineParser): LinkFormat["read"] =>
  (bytes) =>
    Stream.decodeText(bytes).pipe(
      Stream.mapAccumArray(
        () => lineReader(makeParser()),
        (reader, pieces) => [reader, reader.take(pieces)],
        { onHalt: (reader) => reader.end() },
      ),
      Stream.mapArrayEffect((lines) => {
        const last = Arr.lastNonEmpty(lines);
        return last instanceof UnreadableLinkFile
          ? Effect.fail(last)
          : Effect.succeed(lines as Arr.NonEmptyReadonlyArray<LinkLine>);
      }),
    );

/** The maximum length of a line, in characters. */
const longestLine = 65_536;

const lineReader = ({ read, missing }: LineParser) => {
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
    take: (pieces: ReadonlyArray<string>): ReadonlyArray<LinkLine | UnreadableLinkFile> => {
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
    end: (): ReadonlyArray<LinkLine | UnreadableLinkFile> => {
      const lines = rest === "" ? [] : readAll([rest.replace(/\r$/, "")]);
      const lacking = missing(line);
      return lacking === null || lines.at(-1) instanceof UnreadableLinkFile ? lines : [...lines, lacking];
    },
  };
};
