/** Finds out whether a program has rounded the chat IDs of a file. */
import { type LeftOutLine, rowText } from "./formats/link_format.ts";

/** How many rounded IDs are reported in full. Further ones are only counted. */
const reportedIds = 10;

/** How programs round IDs, and which number and share of the IDs are not so by chance. */
const roundings: ReadonlyArray<{ has: (id: string) => boolean; least: number; share: number }> = [
  // Spreadsheets keep 15 digits. One ID of a thousand ends in 000.
  { has: (id) => id.endsWith("000"), least: 2, share: 1 / 20 },
  // JavaScript keeps 53 bits. It writes one ID of ten alike, of the oldest one of five.
  { has: (id) => String(Number(id)) === id, least: 5, share: 3 / 4 },
];

/** The chat IDs of a file as programs write them that have rounded them. @internal */
export class RoundedIds {
  /** The number of chat IDs of 17 to 19 digits. */
  #longIds = 0;
  readonly #rounded = roundings.map((rounding) => ({
    ...rounding,
    count: 0,
    problems: [] as Array<LeftOutLine>,
  }));

  note(chatId: string, { line, text }: Pick<LeftOutLine, "line" | "text">): void {
    if (!/^\d{17,19}$/.test(chatId)) return;
    this.#longIds++;
    if (!chatId.endsWith("0")) return;
    for (const rounded of this.#rounded) {
      if (!rounded.has(chatId)) continue;
      rounded.count++;
      if (rounded.problems.length === reportedIds) continue;
      const problem = `chat ID ${chatId} is rounded, as many of the file: export it again with this column as text`;
      rounded.problems.push({ line, reason: "destroyed", problem, text: rowText(text) });
    }
  }

  /** The rounded IDs, if they are more than can be by chance. */
  get lines(): { readonly count: number; readonly problems: ReadonlyArray<LeftOutLine> } | null {
    const found = this.#rounded.find(
      ({ count, least, share }) => count >= least && count > share * this.#longIds,
    );
    return found === undefined ? null : { count: found.count, problems: found.problems };
  }
}
