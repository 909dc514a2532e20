import { type OddWord, quoted, UnreadableLinkFile } from "./link_format.ts";

/** A row with a word in a column of verification whose meaning nobody knows. */
export interface OddWordRow {
  readonly line: number;
  readonly column: string;
  readonly word: string;
}

/** A column with more words than this has no states, but names or times. */
const mostWords = 20;

const longestWord = 60;

/** Counts the odd words of a file, so that they are asked about together. */
export class OddWords {
  #first: OddWordRow | null = null;
  readonly #words = new Map<string, OddWord>();
  readonly #columns = new Set<string>();

  get isEmpty(): boolean {
    return this.#first === null;
  }

  add({ line, column, word }: OddWordRow): void {
    this.#first ??= { line, column, word };
    this.#columns.add(column);
    const key = JSON.stringify([column, word]);
    const rows = this.#words.get(key)?.rows ?? 0;
    if (rows > 0 || this.#words.size <= mostWords) this.#words.set(key, { column, word, rows: rows + 1 });
  }

  /** The error that asks about the words. It asks about the columns alone if there are too many words. */
  get error(): UnreadableLinkFile {
    const { line, column, word } = this.#first ?? { line: 1, column: "", word: "" };
    const oddWords = [...this.#words.values()];
    const areWords = oddWords.length <= mostWords && oddWords.every((odd) => odd.word.length <= longestWord);
    return new UnreadableLinkFile({
      line,
      reason: `column ${quoted(column)} says ${quoted(word)}, expected a word that says whether the link was verified`,
      said: { is: "word", column, value: word },
      unclearColumns: [...this.#columns],
      ...(areWords ? { oddWords } : {}),
    });
  }
}
