/** Handles chat users who occur more than once in a batch of an import. */
import { type FileLink, type LeftOutLine, rowText } from "./formats/link_format.ts";

/**
 * Which of two links of one chat user counts: the first (`keep`), the second (`replace`), or the one that was verified
 * last (`newest`).
 */
export type ConflictChoice = "keep" | "replace" | "newest";

export interface PlacedLink extends FileLink {
  /** The line of the row in its file. JSON may have several rows on one line. */
  readonly line: number;
  readonly text: string;
}

/** Returns which of two links of one chat user counts. `first` comes before `second` in the file. */
export const choose = (first: PlacedLink, second: PlacedLink, onConflict: ConflictChoice): PlacedLink => {
  if (onConflict !== "newest") return onConflict === "keep" ? first : second;
  return (second.lastVerifiedAt ?? -Infinity) > (first.lastVerifiedAt ?? -Infinity) ? second : first;
};

/** Returns the report of a link that is left out because another link of the same chat user counts. */
export const repeatProblem = (link: PlacedLink, counting: PlacedLink): LeftOutLine => {
  const { line, chatId, gameId, text } = link;
  const isSame = gameId === counting.gameId;
  const problem = isSame
    ? `chat user ${chatId} has the same link on line ${counting.line}`
    : `chat user ${chatId} is linked to ${gameId} here and to ${counting.gameId} on line ${counting.line}, which counts`;
  return { line, reason: isSame ? "repeated" : "conflict", problem, text: rowText(text) };
};
