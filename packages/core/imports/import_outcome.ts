import { csvRow } from "../csv.ts";
import { isWrong, type LeftOutLine, type LeftOutReason, type LinkLine } from "./formats/link_format.ts";
import { type BatchImported, noneImported, sumOf } from "./import_store.ts";
import { RoundedIds } from "./rounded_ids.ts";

/** How many left-out rows of each reason are reported in full. Further rows are only counted. */
const reportedRows = 10;

export interface LeftOutRows {
  readonly reason: LeftOutReason;
  readonly count: number;
  readonly first: ReadonlyArray<LeftOutLine>;
}

/** The result of an import. Each row of the file is either a link or left out. */
export interface ImportOutcome extends BatchImported {
  /** The number of links in the file. A resumed import counts only the links that it read after `resumedAfter`. */
  readonly links: number;
  readonly leftOut: number;
  readonly reasons: ReadonlyArray<LeftOutRows>;
  /** The number of rows that an interrupted import had read before it was resumed; 0 for a new import. */
  readonly resumedAfter: number;
  /** The names of unread columns, up to 100. */
  readonly unreadColumns: ReadonlyArray<string>;
}

export class Tally {
  rows = 0;
  links = 0;
  /** Whether the account can have no more links. */
  isFull = false;
  /** Whether rows were left because of a limit. */
  isEnded = false;
  /** The records that may still change today. */
  changesLeft = Infinity;
  /** Whether a batch of the file was stored. */
  isBegun = false;
  counts = noneImported;
  readonly reasons = new Map<LeftOutReason, LeftOutRows & { count: number; first: Array<LeftOutLine> }>();

  readonly #rounded = new RoundedIds();

  noteIds(rows: ReadonlyArray<LinkLine>): void {
    for (const row of rows) if ("link" in row) this.#rounded.note(row.link.chatId, row);
  }

  get roundedLines(): RoundedIds["lines"] {
    return this.#rounded.lines;
  }

  leaveOut(row: LeftOutLine): void {
    const { reason } = row;
    const rows = this.reasons.get(reason) ?? { reason, count: 0, first: [] };
    this.reasons.set(reason, rows);
    rows.count++;
    if (rows.first.length < reportedRows) rows.first.push(row);
  }

  add(imported: BatchImported): void {
    this.counts = sumOf(this.counts, imported);
    this.changesLeft -= imported.inserted + imported.replaced;
  }

  get wrong(): ReadonlyArray<LeftOutRows> {
    return [...this.reasons.values()].filter(isWrong);
  }

  get wrongLines(): { readonly count: number; readonly problems: ReadonlyArray<LeftOutLine> } {
    const problems = this.wrong.flatMap(({ first }) => first).toSorted((one, other) => one.line - other.line);
    const count = this.wrong.reduce((sum, rows) => sum + rows.count, 0);
    return { count, problems: problems.slice(0, reportedRows) };
  }

  outcome(rest: Omit<ImportOutcome, keyof BatchImported | "leftOut" | "reasons">): ImportOutcome {
    const reasons = [...this.reasons.values()].toSorted((one, other) => other.count - one.count);
    const leftOut = reasons.reduce((sum, { count }) => sum + count, 0);
    return { ...this.counts, leftOut, reasons, ...rest };
  }
}

/** @internal */
export const leftOutHeader = "line,reason,row\n";

/** Formats a row of the CSV file of left-out rows, with its line end. @internal */
export const leftOutRow = ({ line, problem, text }: LeftOutLine): string =>
  `${csvRow([line, problem, text])}\n`;

/** The limits of a file of left-out rows, not counting its header and last line. `size` is in bytes. */
const bounds = { rows: 10_000, size: 9_999_900 };

/**
 * Makes a writer for the file of left-out rows, which writes at most 10,000 rows and 10 MB. The last line counts the
 * rows beyond these limits. @internal
 */
export const boundedLeftOut = () => {
  const encoder = new TextEncoder();
  let [rows, size, more] = [0, 0, 0];
  const take = (line: LeftOutLine): string => {
    if (more > 0 || rows === bounds.rows || size > bounds.size) {
      more++;
      return "";
    }
    const text = leftOutRow(line);
    size += encoder.encode(text).length;
    if (size > bounds.size) return take(line);
    rows++;
    return text;
  };
  return {
    add: (lines: ReadonlyArray<LeftOutLine>): string => lines.map(take).join(""),
    end: (): string =>
      more === 0 ? "" : `${csvRow(["", `${more.toLocaleString("en")} more rows were left out`, ""])}\n`,
  };
};
