/**
 * What commands print.
 */
import { Console, Effect } from "effect";
import { Flag, GlobalFlag } from "effect/cli";

/** `--json`, on every command that ends by itself. */
export const Json = GlobalFlag.Setting("json")({
  flag: Flag.Boolean("json").pipe(
    Flag.withoutNegation,
    Flag.withDescription("Print JSON on standard output and nothing else"),
    Flag.withDefault(false),
  ),
});

/** Whether the command line asks for JSON. It is read as it stands, since one that is wrong must be answered too. */
export const jsonWanted = (): boolean => {
  const words = process.argv.slice(2);
  const end = words.indexOf("--");
  return (end === -1 ? words : words.slice(0, end)).some(
    (word) => word === "--json" || word === "--json=true",
  );
};

/**
 * Prints the answer of a command.
 *
 * @param json what is printed with `--json`
 * @param text what is printed without it
 */
export const answer = Effect.fnUntraced(function* (json: object, text: string) {
  yield* Console.log(printable((yield* Json) ? JSON.stringify(json) : text));
});

/**
 * Text that neither moves the cursor nor turns the direction of what is around it. Such characters are escaped as in
 * JSON, so that JSON keeps its meaning; ends of lines stay.
 */
export const printable = (text: string): string =>
  text.replace(/(?!\n)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, escaped);

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Rows under their headings, each column as wide as its widest cell. */
export const formatTable = (
  headings: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
): string => {
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

const cellOf = (text: string): string => printable(text).replaceAll("\n", escaped);

/** `100,000` */
export const formatCount = (count: number): string => count.toLocaleString("en-US");

/** `1 line`, `100,000 lines` */
export const countOf = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
