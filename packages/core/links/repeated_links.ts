/** Chat users that a batch of an import names more than once. */
import type { FileLink, LeftOutLine } from "./formats/link_format.ts";

/** Which link of a chat user wins. */
export type ConflictChoice = "keep" | "replace" | "newest";

export interface PlacedLink extends FileLink {
  /** The line of the row in its file. JSON may have several rows on one line. */
  readonly line: number;
}

/** Chooses between two links of a chat user, in the order of the file. */
export const choose = (first: PlacedLink, second: PlacedLink, onConflict: ConflictChoice): PlacedLink => {
  if (onConflict !== "newest") return onConflict === "keep" ? first : second;
  return (second.lastVerifiedAt ?? -Infinity) > (first.lastVerifiedAt ?? -Infinity) ? second : first;
};

/** Returns the report of a link that loses against another link of its chat user. */
export const repeatProblem = (link: PlacedLink, counting: PlacedLink): LeftOutLine => {
  const { line, chatId, gameId } = link;
  const isSame = gameId === counting.gameId;
  const problem = isSame
    ? `chat user ${chatId} has the same link on line ${counting.line}`
    : `chat user ${chatId} is linked to ${gameId} here and to ${counting.gameId} on line ${counting.line}, which counts`;
  return { line, reason: isSame ? "repeated" : "conflict", problem, text: `${chatId},${gameId}` };
};
