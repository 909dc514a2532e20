import { Predicate } from "effect";
import {
  type ColumnProblem,
  type Columns,
  columnsOf,
  minecraft,
  reportedName,
  reportUnread,
} from "./columns.ts";
import { UnreadableLinkFile } from "./link_format.ts";
import { leaveOut, type RowOptions, readRow } from "./row.ts";
import { linesParser, type Parsed, type TextParser } from "./text_rows.ts";

/**
 * The maximum number of lists of property names whose columns are cached. In most files, the objects have only one or
 * two different lists.
 */
const maxShapes = 1_000;

/**
 * Makes two readers of JSON rows: `value` reads an object, and `member` reads a member of an object that maps IDs to
 * IDs.
 */
export const jsonRows = (options: RowOptions) => {
  const shapes = new Map<string, Columns | ColumnProblem>();
  /** The names that were read in any object. */
  const read = new Set<string>();

  const report = (columns: Columns, names: ReadonlyArray<string>, line: number) => {
    const unread = new Set(columns.unread);
    for (const name of names) {
      if (unread.has(name)) continue;
      read.add(name);
      options.unreadColumns?.delete(reportedName(name));
    }
    const left = columns.unread.filter((name) => !read.has(name));
    return reportUnread({ ...columns, unread: left }, line, options);
  };

  const columnsFor = (names: ReadonlyArray<string>, line: number) => {
    const shape = names.join("\0");
    const known = shapes.get(shape);
    if (known !== undefined) return known;
    const columns = columnsOf(names, options);
    if (shapes.size < maxShapes) shapes.set(shape, columns);
    return "problem" in columns ? columns : (report(columns, names, line) ?? columns);
  };

  const readObject = (object: object, line: number, text: string): Parsed => {
    const row = { line, text, values: Object.values(object) as ReadonlyArray<unknown> };
    const columns = columnsFor(Object.keys(object), line);
    if (columns instanceof UnreadableLinkFile) return columns;
    return "problem" in columns
      ? leaveOut(row, columns.reason, `the object has other names: ${columns.problem}`)
      : readRow(row, columns, options);
  };

  return {
    value: (text: string, line: number): Parsed => {
      // Parsing a row that is no object would take long, because of its exception.
      const value = /^\s*\{/.test(text) ? parseJson(text) : undefined;
      return Predicate.isObject(value)
        ? readObject(value, line, text)
        : leaveOut({ line, text }, "row", "the row is not a JSON object");
    },

    /** Reads a member `"100001": "1"`, or `"100001": {"robloxId": "1"}`. */
    member: (text: string, line: number): Parsed => {
      const object = parseJson(`{${text}}`);
      const [entry] = Predicate.isObject(object) ? Object.entries(object) : [];
      if (entry === undefined) return leaveOut({ line, text }, "row", "the member is not JSON");
      const [key, value] = entry;
      if (isUuid(value) || isUuid(key))
        return new UnreadableLinkFile({ line, reason: minecraft, said: { is: "file", kind: "minecraft" } });
      const isRecord = Predicate.isObject(value) && !Object.keys(value).some((name) => name.startsWith("$"));
      return readObject(
        isRecord ? { ...value, discordId: key } : { discordId: key, robloxId: value },
        line,
        text,
      );
    },
  };
};

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const isUuid = (value: unknown): boolean =>
  typeof value === "string" && /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(value);

export const ndjsonParser = (options: RowOptions): TextParser => {
  const { value } = jsonRows(options);
  return linesParser({
    read: (text, line) => (text.trim() === "" ? [] : [value(text, line)]),
    end: () => [],
  });
};
