import { Console, Effect } from "effect";
import { GlobalFlag } from "effect/cli";
import { escaped, printable } from "../message_text.ts";
import { switchFlag } from "./flags.ts";
import { Invocation } from "./invocation.ts";

/** The flag `--json`, which every command except `serve` accepts. */
export const Json = GlobalFlag.Setting("json")({
  flag: switchFlag("json", "Print JSON on standard output and nothing else"),
});

/**
 * Whether `--json` is given. Searches the unparsed arguments, since the errors of an invalid command line are JSON too.
 */
export const jsonWanted: Effect.Effect<boolean> = Effect.map(Invocation, ({ words }) => {
  const end = words.indexOf("--");
  return (end === -1 ? words : words.slice(0, end)).some(
    (word) => word === "--json" || word === "--json=true",
  );
});

/** Prints the result of a command: JSON with `--json`, otherwise the text. */
export const answer = Effect.fnUntraced(function* (json: object, text: string) {
  yield* Console.log(printable((yield* Json) ? JSON.stringify(json) : text));
});

type Row = ReadonlyArray<string>;

export const formatTable = (headings: Row, rows: ReadonlyArray<Row>): string => {
  const table = [headings, ...rows].map((row) => row.map(cellOf));
  const widths = headings.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
};

/** Formats a table; without rows, returns the text instead. */
export const tableOr = (none: string, headings: Row, rows: ReadonlyArray<Row>): string =>
  rows.length === 0 ? none : formatTable(headings, rows);

const cellOf = (text: string): string => printable(text).replaceAll("\n", escaped);

export const formatCount = (count: number): string => count.toLocaleString("en-US");

export const rowsIn = (tables: Readonly<Record<string, number>>): number =>
  Object.values(tables).reduce((sum, count) => sum + count, 0);

/** Formats a count with its noun: `1 line`, `100,000 lines`. */
export const countOf = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
