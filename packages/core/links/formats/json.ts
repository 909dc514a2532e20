/**
 * Links in one JSON text: an array of objects, an object of ID to ID, or objects one after the other. The text is cut
 * at the commas between its rows, and `JSON.parse` reads each row alone, so that files of any size need little memory.
 */
import { jsonRows } from "./json_rows.ts";
import { type ReadOptions, UnreadableLinkFile } from "./link_format.ts";
import { longestRow, type Parsed, type TextParser, tooLong } from "./text_rows.ts";

/** What the outermost value is: rows stand in it at depth 1, or are themselves at depth 0. */
type Shape = "array" | "members" | "values";

export const jsonParser = (options: ReadOptions): TextParser => {
  const rows = jsonRows(options);
  let shape: Shape | null = null;
  /** Text from the start of a row on. */
  let rest = "";
  /** How much of `rest` was scanned. */
  let scanned = 0;
  let depth = 0;
  let isInString = false;
  let line = 1;
  /** The line where a row started; 0 between rows. */
  let startLine = 0;
  let isOver = false;

  const finish = (text: string): ReadonlyArray<Parsed> => {
    const at = startLine;
    startLine = 0;
    if (text.trim() === "") return [];
    return [shape === "members" ? rows.member(text, at) : rows.value(text, at)];
  };

  const scan = (): ReadonlyArray<Parsed> => {
    const found: Array<Parsed> = [];
    const rowDepth = shape === "values" ? 0 : 1;
    let start = 0;
    let index = scanned;
    for (; index < rest.length && !isOver; index++) {
      const code = rest.charCodeAt(index);
      if (code === newline) line++;
      if (isInString) {
        if (code === backslash) index++;
        else if (code === quote) isInString = false;
        continue;
      }
      if (code <= space) continue;
      const isOpening = code === brace || code === bracket;
      const isClosing = code === brace + 2 || code === bracket + 2;
      if (shape !== "values" && depth === 0) {
        // The bracket around all rows.
        depth = 1;
        start = index + 1;
        continue;
      }
      if (isClosing && depth === rowDepth) {
        found.push(...finish(rest.slice(start, index)));
        if (shape === "values")
          found.push(new UnreadableLinkFile({ line, reason: "a bracket is closed twice" }));
        isOver = true;
        break;
      }
      if (code === comma && depth === rowDepth) {
        found.push(...finish(rest.slice(start, index)));
        start = index + 1;
        continue;
      }
      if (startLine === 0) {
        startLine = line;
        start = index;
      }
      if (code === quote) isInString = true;
      if (isOpening) depth++;
      if (isClosing) depth--;
      if (isClosing && shape === "values" && depth === 0) {
        found.push(...finish(rest.slice(start, index + 1)));
        start = index + 1;
      }
    }
    // Blank text between rows is not kept.
    const keptFrom = startLine === 0 ? Math.min(index, rest.length) : start;
    scanned = index - keptFrom;
    rest = rest.slice(keptFrom);
    if (!isOver && rest.length > longestRow) found.push(tooLong(startLine));
    return found;
  };

  return {
    take: (text) => {
      if (isOver) return [];
      rest += text;
      shape ??= shapeOf(rest);
      return shape === null ? [] : scan();
    },
    end: () => {
      if (isOver) return [];
      shape ??= "values";
      const found = rest === "" ? [] : scan();
      return isOver || (startLine === 0 && shape === "values")
        ? found
        : [
            ...found,
            new UnreadableLinkFile({ line, reason: "the file ends within its JSON: it is not whole" }),
          ];
    },
  };
};

const newline = 10;
const space = 32;
const quote = 34;
const comma = 44;
const bracket = 91;
const backslash = 92;
const brace = 123;

/** Null where the text does not tell yet. The keys of an object of IDs are digits. */
const shapeOf = (text: string): Shape | null => {
  const start = text.trimStart();
  if (start === "") return null;
  if (start.startsWith("[")) return "array";
  const inside = /^\{\s*(.)(.{0,60})/s.exec(start);
  if (inside === null) return start.startsWith("{") ? null : "values";
  const [, first, key = ""] = inside;
  if (first !== '"') return "members";
  const end = key.indexOf('"');
  if (end === -1) return key.length < 60 ? null : "values";
  return isIdKey(key.slice(0, end)) ? "members" : "values";
};

/** An ID, or a UUID of DiscordSRV. */
export const isIdKey = (key: string): boolean => /^\d+$|^[\da-f]{8}-[\da-f-]{27}$/i.test(key);
