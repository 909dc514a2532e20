/** Reads tables and code blocks of the documents. */
import { readFileSync } from "node:fs";

export const readDocument = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** The rows of the table with these headings, each as a list of cells. */
export const rowsUnder = (
  document: string,
  headings: ReadonlyArray<string>,
): ReadonlyArray<ReadonlyArray<string>> => {
  const lines = document.split("\n");
  const start = lines.indexOf(`| ${headings.join(" | ")} |`);
  if (start === -1) throw new Error(`Cannot find the table "${headings.join(" | ")}"`);
  const after = lines.slice(start + 2);
  const length = after.findIndex((line) => !line.startsWith("|"));
  return after.slice(0, length).map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
};

/** The content of a code cell: `200` in "`200`". */
export const codeOf = (cell = ""): string => /^`([^`]*)`$/.exec(cell)?.[1] ?? "";

export interface Block {
  readonly language: string;
  readonly text: string;
}

export const blocksOf = (document: string): ReadonlyArray<Block> =>
  [...document.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", text = ""]) => ({
    language,
    text,
  }));

/** Matches a documented output, with any text for `…`. */
export const patternOf = (text: string): RegExp => {
  const parts = text.split("…").map((part) => part.replaceAll(/\W/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`);
};
