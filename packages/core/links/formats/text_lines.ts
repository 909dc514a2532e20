import { UnreadableLinkFile } from "./link_format.ts";
import { longestRow, type Parsed, type TextParser, tooLong } from "./text_rows.ts";

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
  new UnreadableLinkFile({ line, reason: "the line has NUL characters, so it is not text" });
