import {
  type DateOrder,
  type OddWord,
  quoted,
  type UnclearTime,
  type UnclearTimeChoice,
  UnreadableLinkFile,
} from "./link_format.ts";

/** A row with a word in a column of verification whose meaning nobody knows. */
interface OddWordRow {
  readonly line: number;
  readonly column: string;
  readonly word: string;
}

export interface OddTimeRow extends Omit<UnclearTime, "rows"> {
  readonly line: number;
}

export type OddRow = OddWordRow | OddTimeRow;

/** A column with more words than this has no states, but names or times. */
const mostWords = 20;

const longestWord = 60;

/** Counts the odd words and the unclear times of a file, so that they are asked about together. */
export class OddRows {
  readonly #firstWord: Array<OddWordRow> = [];
  readonly #words = new Map<string, OddWord>();
  readonly #wordColumns = new Set<string>();
  /** By whether they are dates. */
  readonly #times = new Map<boolean, UnclearTime & { readonly line: number }>();

  get isEmpty(): boolean {
    return this.#firstWord.length + this.#times.size === 0;
  }

  add(row: OddRow): void {
    if ("word" in row) this.#addWord(row);
    else {
      const known = this.#times.get(row.isDate);
      this.#times.set(row.isDate, { ...(known ?? row), rows: (known?.rows ?? 0) + 1 });
    }
  }

  #addWord({ line, column, word }: OddWordRow): void {
    if (this.#firstWord.length === 0) this.#firstWord.push({ line, column, word });
    this.#wordColumns.add(column);
    const key = JSON.stringify([column, word]);
    const rows = this.#words.get(key)?.rows ?? 0;
    if (rows > 0 || this.#words.size <= mostWords) this.#words.set(key, { column, word, rows: rows + 1 });
  }

  /**
   * Returns how to read the unclear times, or the error that asks about the words and times. It asks about the columns
   * alone if there are too many words.
   *
   * @param orders the orders that other dates of the file have
   * @param chosen how the user wants unclear times to be read
   */
  settled(
    orders: ReadonlySet<DateOrder>,
    chosen: UnclearTimeChoice | undefined,
  ): UnclearTimeChoice | UnreadableLinkFile {
    const [order = chosen, other] = orders;
    const timesAs = other === undefined ? order : chosen;
    const oddWords = [...this.#words.values()];
    const areWords = oddWords.length <= mostWords && oddWords.every((odd) => odd.word.length <= longestWord);
    const times = [...this.#times.values()].filter(
      ({ isDate }) => chosen === undefined && (!isDate || timesAs === undefined),
    );
    const [first] = [...this.#firstWord, ...times].toSorted((one, another) => one.line - another.line);
    if (first === undefined) return timesAs ?? "unknown";
    const { value, expected, is } = askedOf(first);
    const { line, column } = first;
    return new UnreadableLinkFile({
      line,
      reason: `column ${quoted(column)} says ${quoted(value)}, expected ${expected}`,
      said: { is, column, value },
      unclearColumns: [...new Set([...this.#wordColumns, ...times.map((time) => time.column)])],
      ...(areWords && oddWords.length > 0 ? { oddWords } : {}),
      ...(times.length > 0 ? { unclearTimes: times.map(({ line: _, ...time }) => time) } : {}),
    });
  }
}

const askedOf = (row: OddRow) => {
  if ("word" in row)
    return {
      is: "word",
      value: row.word,
      expected: "a word that says whether the link was verified",
    } as const;
  return row.isDate
    ? ({ is: "date", value: row.time, expected: "a date whose day and month can be told apart" } as const)
    : ({ is: "time", value: row.time, expected: "an ISO 8601 date, or a date and time" } as const);
};
