/**
 * Links in one JSON text: an array of objects, an object of ID to ID, or objects one after the other. The text is cut
 * at the commas between its rows, and `JSON.parse` reads each row alone, so that files of any size need little memory.
 */
import { jsonRows } from "./json_rows.ts";
import { type ReadOptions, UnreadableLinkFile } from "./link_format.ts";
import { longestRow, type Parsed, type TextParser, tooLong } from "./text_rows.ts";

/** What the outermost value is: rows stand in it at depth 1, or are themselves at depth 0. */
type Shape = "array" | "members" | "values";

/** A shape that is not given is found by how the text begins. */
export const jsonParser = (options: ReadOptions, shape: Shape | null = null): TextParser => {
  const cutter = new Cutter(jsonRows(options), shape);
  return {
    take: (text) => cutter.take(text),
    end: () => cutter.end(),
  };
};

/** Cuts the text into rows, character by character. */
class Cutter {
  readonly #rows: ReturnType<typeof jsonRows>;
  #shape: Shape | null;
  /** Text from the start of a row on. */
  #rest = "";
  /** The next character of it. */
  #index = 0;
  #start = 0;
  #depth = 0;
  #isInString = false;
  #line = 1;
  /** The line where a row started; 0 between rows. */
  #startLine = 0;
  #isOver = false;
  #found: Array<Parsed> = [];

  constructor(rows: ReturnType<typeof jsonRows>, shape: Shape | null) {
    this.#rows = rows;
    this.#shape = shape;
  }

  take(text: string): ReadonlyArray<Parsed> {
    if (this.#isOver) return [];
    this.#rest += text;
    this.#shape ??= shapeOf(this.#rest);
    return this.#shape === null ? [] : this.#scan();
  }

  end(): ReadonlyArray<Parsed> {
    if (this.#isOver) return [];
    this.#shape ??= "values";
    const found = this.#scan();
    const isWhole = this.#isOver || (this.#startLine === 0 && this.#shape === "values");
    return isWhole ? found : [...found, this.#unreadable("the file ends within its JSON: it is not whole")];
  }

  #scan(): ReadonlyArray<Parsed> {
    this.#found = [];
    for (; this.#index < this.#rest.length && !this.#isOver; this.#index++) {
      const code = this.#rest.charCodeAt(this.#index);
      if (code === newline) this.#line++;
      if (this.#isInString) this.#stepInString(code);
      else if (code > space) this.#step(code);
    }
    // Blank text between rows is not kept.
    const keptFrom = this.#startLine === 0 ? Math.min(this.#index, this.#rest.length) : this.#start;
    this.#rest = this.#rest.slice(keptFrom);
    this.#index -= keptFrom;
    this.#start = 0;
    if (!this.#isOver && this.#rest.length > longestRow) this.#found.push(tooLong(this.#startLine));
    return this.#found;
  }

  #stepInString(code: number): void {
    if (code === backslash) this.#index++;
    else if (code === quote) this.#isInString = false;
  }

  #step(code: number): void {
    const isMany = this.#shape !== "values";
    if (isMany && this.#depth === 0) {
      // The bracket around all rows.
      this.#depth = 1;
      return;
    }
    const isAtRow = this.#depth === (isMany ? 1 : 0);
    const isClosing = code === brace + 2 || code === bracket + 2;
    if (isAtRow && isClosing) this.#close();
    else if (isAtRow && code === comma) this.#finish(this.#index);
    else this.#stepInRow(code, isClosing);
  }

  #stepInRow(code: number, isClosing: boolean): void {
    if (this.#startLine === 0) {
      this.#startLine = this.#line;
      this.#start = this.#index;
    }
    if (code === quote) this.#isInString = true;
    else if (code === brace || code === bracket) this.#depth++;
    else if (isClosing) this.#depth--;
    if (isClosing && this.#depth === 0) this.#finish(this.#index + 1);
  }

  /** The end of all rows. */
  #close(): void {
    this.#finish(this.#index);
    if (this.#shape === "values") this.#found.push(this.#unreadable("a bracket is closed twice"));
    this.#isOver = true;
  }

  #finish(end: number): void {
    if (this.#startLine === 0) return;
    const text = this.#rest.slice(this.#start, end);
    const { member, value } = this.#rows;
    this.#found.push((this.#shape === "members" ? member : value)(text, this.#startLine));
    this.#startLine = 0;
  }

  #unreadable(reason: string): UnreadableLinkFile {
    return new UnreadableLinkFile({ line: this.#line, reason });
  }
}

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
