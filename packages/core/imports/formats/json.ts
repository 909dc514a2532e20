/**
 * Links in one JSON text: an array of objects, an object that maps IDs to IDs, or a sequence of objects. The text is
 * cut at the commas between rows, and `JSON.parse` reads each row alone, so files of any size need little memory.
 *
 * No library reads the rows, because `@streamparser/json` and `stream-json` stop at the first row that is not JSON, and
 * report no line numbers.
 */
import { jsonRows } from "./json_rows.ts";
import { type FileProblem, UnreadableLinkFile } from "./link_format.ts";
import type { RowOptions } from "./row.ts";
import { longestRow, type Parsed, type TextParser, tooLong } from "./text_rows.ts";

/**
 * The structure of a JSON text: an array of rows, an object whose members are the rows, or rows without brackets around
 * them (`values`).
 */
type Shape = "array" | "members" | "values";

/** Returns a parser of JSON. If `given` is null, the beginning of the text decides the shape. */
export const jsonParser = (options: RowOptions, given: Shape | null = null): TextParser => {
  const { member, value } = jsonRows(options);
  let shape = given;
  /** The text from the start of the current row. */
  let rest = "";
  /** The index of the next character in `rest`. */
  let index = 0;
  let depth = 0;
  let line = 1;
  /** The line where the current row started; 0 between rows. */
  let startLine = 0;
  let isOver = false;
  /** Whether the object around the array of rows is still open. */
  let isWrapped = false;
  let found: Array<Parsed> = [];

  const unreadable = (reason: string, said: FileProblem = { is: "broken", what: "json" }) =>
    new UnreadableLinkFile({ line, reason, said });

  const finish = (end: number): void => {
    found.push((shape === "members" ? member : value)(rest.slice(0, end), startLine));
    rest = rest.slice(end);
    index = 0;
    startLine = 0;
  };

  /** Skips the text at the beginning of `rest` that matches. */
  const skip = (pattern: RegExp): void => {
    const skipped = pattern.exec(rest)?.[0] ?? "";
    line += newlinesIn(skipped);
    rest = rest.slice(skipped.length);
  };

  /** Ends the text at the closing bracket around all rows. In `values`, such a bracket is an error. */
  const close = (): void => {
    if (shape === "values") found.push(unreadable("a bracket is closed twice"));
    isOver = true;
    rest = rest.slice(1);
  };

  /** Nothing may follow the closing bracket: a second list there would be lost. */
  const checkEnd = (): void => {
    skip(blank);
    if (isWrapped && rest.startsWith("}")) {
      isWrapped = false;
      rest = rest.slice(1);
      skip(blank);
    }
    if (rest !== "")
      found.push(unreadable("text follows the end of the JSON, expected a single list or object"));
  };

  const stepBetweenRows = (): void => {
    skip(blankOrComma);
    index = 0;
    if (rest === "") return;
    if (shape !== "values" && depth === 0) {
      // Step into the outermost bracket, which encloses all rows.
      depth = 1;
      rest = rest.slice(1);
    } else if (/^[\]}]/.test(rest)) close();
    else startLine = line;
  };

  const stepOverString = (): boolean => {
    string.lastIndex = index;
    const text = string.exec(rest)?.[0];
    if (text === undefined) return false;
    line += newlinesIn(text);
    index += text.length;
    return true;
  };

  /**
   * Continues to read the current row. Returns false at the end of the available text, when the next piece is needed.
   */
  const stepInRow = (): boolean => {
    structural.lastIndex = index;
    const at = structural.exec(rest)?.index ?? rest.length;
    const character = rest.charAt(at);
    index = at;
    if (character === "") return false;
    if (character === '"') return stepOverString();
    const outside = shape === "values" ? 0 : 1;
    if (character === "\n") line++;
    else if (character === "{" || character === "[") depth++;
    else if (depth === outside) {
      finish(at);
      return true;
    } else if (character !== ",") depth--;
    index++;
    if (depth === 0 && character !== "\n" && character !== ",") finish(index);
    return true;
  };

  const step = (): boolean => {
    if (isOver || rest === "") return false;
    if (startLine !== 0) return stepInRow();
    stepBetweenRows();
    return true;
  };

  const scan = (): ReadonlyArray<Parsed> => {
    found = [];
    let isMore = true;
    while (isMore) isMore = step();
    if (isOver) checkEnd();
    if (!isOver && rest.length > longestRow) found.push(tooLong(startLine));
    return found;
  };

  return {
    take: (text) => {
      rest += text;
      if (shape === null) {
        skip(blank);
        isWrapped = wrapping.test(rest);
        if (isWrapped) skip(wrapping);
        shape = isWrapped ? "array" : shapeOf(rest);
      }
      return shape === null ? [] : scan();
    },
    end: () => {
      shape ??= "values";
      const rows = scan();
      const isWhole = (isOver && !isWrapped) || (startLine === 0 && shape === "values");
      return isWhole
        ? rows
        : [
            ...rows,
            unreadable("the file ends within its JSON: it is not whole", { is: "file", kind: "cut" }),
          ];
    },
  };
};

const blank = /^\s*/;

/** The beginning of an object such as `{"members": [{`, up to the array. */
export const wrapping = /^\{\s*"[^"\\]{1,60}"\s*:\s*(?=\[\s*\{)/;

const blankOrComma = /^[\s,]*/;

const structural = /["{}[\],\n]/g;

const string = /"[^"\\]*(?:\\.[^"\\]*)*"/sy;

const newlinesIn = (text: string): number => text.split("\n").length - 1;

/**
 * Returns the shape of a text without leading blanks; null while it is too short to decide. An object whose first key is
 * an ID is `members`.
 */
const shapeOf = (start: string): Shape | null => {
  if (start === "") return null;
  if (start.startsWith("[")) return "array";
  const inside = /^\{\s*(.)(.{0,60})/s.exec(start);
  if (inside === null) return start.startsWith("{") ? null : "values";
  const [, first, key = ""] = inside;
  if (first !== '"') return "members";
  const end = key.indexOf('"');
  if (end === -1) return key.length < 60 ? null : "values";
  // The next piece tells whether the object holds an array of rows.
  if (/^\s*(?::\s*(?:\[\s*)?)?$/.test(key.slice(end + 1)) && key.length < 60) return null;
  return isIdKey(key.slice(0, end)) ? "members" : "values";
};

/** Returns whether a key is an ID, or a UUID of DiscordSRV. */
export const isIdKey = (key: string): boolean => /^\d+$|^[\da-f]{8}-[\da-f-]{27}$/i.test(key);
